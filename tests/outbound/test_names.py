"""The name service and the certificates: connected to an address, spoken to as a host."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.outbound.site import answer, site
from wakeful.errors import Refused
from wakeful.outbound.fetch import resolve


async def test_this_machine_is_found_by_its_name() -> None:
    assert {ip_address(each).is_loopback for each in await resolve("localhost", 80)} == {True}


async def test_a_name_that_nobody_has_is_said() -> None:
    with pytest.raises(Refused, match=r"there is no host nobody\.invalid"):
        await resolve("nobody.invalid", 80)


def certificate(folder: Path, name: str) -> Path:
    """One that signs itself; key and certificate in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


async def test_X11_the_certificate_is_checked_for_the_host_and_not_for_the_address(
    tmp_path: Path,
) -> None:
    file = certificate(tmp_path, "site.example")
    ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ours.load_cert_chain(file)
    theirs = ssl.create_default_context(cafile=str(file))
    async with site(ours) as at:
        at.answers["/"] = answer(b"proven")
        fetcher = at.fetcher(trusted=lambda: theirs)
        url = at.url("/").replace("http:", "https:")
        assert (await fetcher.get(url)).body == b"proven"
        with pytest.raises(Refused, match="cannot be reached"):
            await fetcher.get(url.replace("site.example", "other.example"))
        with pytest.raises(Refused, match="cannot be reached"):  # nobody vouches for this one
            await at.fetcher().get(url)
        assert len(at.asked) == 1
