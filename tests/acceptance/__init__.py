"""The promises, held against the real process: kills, signals, full disks, a counting sink."""
