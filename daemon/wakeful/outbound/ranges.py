"""Which addresses belong to the world: all others lead to this machine or to its neighbours."""

from __future__ import annotations

import ipaddress

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# What is not in here is loopback, link-local, private, multicast, a tunnel or not given out. The
# IPv4 addresses that hide in IPv6 (mapped, compatible, NAT64) are outside of 2000::/3 too.
WORLD = ipaddress.ip_network("2000::/3")
CLOSED: tuple[_Network, ...] = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # behind a provider's NAT; one cloud's metadata is there
        "127.0.0.0/8",
        "168.63.129.16/32",  # another cloud's inside, at an address that looks public
        "169.254.0.0/16",  # link-local; most clouds' metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation, as the next two
        "198.51.100.0/24",
        "203.0.113.0/24",
        "192.88.99.0/24",  # the relay of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # measurements
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "2001::/23",  # Teredo, which carries an IPv4 address, and other special uses
        "2001:db8::/32",
        "2002::/16",  # 6to4 carries an IPv4 address
        "3fff::/20",
    )
)


def is_public(address: str) -> bool:
    """False for every address that could be this machine, its network or its cloud's inside."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if ip.version == 6 and ip not in WORLD:
        return False
    return not any(ip in network for network in CLOSED if network.version == ip.version)
