"""Wakeful keeps a deep agent awake."""
