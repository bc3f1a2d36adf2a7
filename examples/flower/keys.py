"""Makes what a federation with TLS and node authentication needs, in one folder.

    python keys.py fed --nodes 10 --address 127.0.0.1:9443

gives the folder fed with

    ca.crt                       the certificate that SuperNodes and `flwr` check the server by
    server.crt, server.key       the SuperLink's certificate for the address
    node-0, node-0.pub, ...      a key pair for each SuperNode
    flwr/config.toml             the SuperLink as `flwr` knows it, under the name `deployment`

The keys are for a trial on machines of your own. The key of the authority is not kept, so a lost
key means a new folder.
"""

from __future__ import annotations

import argparse
import datetime
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID = datetime.timedelta(days=365)
_CURVE = ec.SECP384R1()


def main() -> None:
    """Fills the folder; one that is there already is refused, its keys may be in use."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--address", default="127.0.0.1:9443", help="host:port of the SuperLink")
    options = parser.parse_args()
    folder = options.folder.resolve()
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        parser.error(f"{folder} is there already; name another folder")
    write_certificates(folder, options.address.rpartition(":")[0])
    for node in range(options.nodes):
        write_node_key(folder / f"node-{node}")
    write_connection(folder, options.address)


def write_certificates(folder: Path, host: str) -> None:
    """An authority, which signs one certificate and is forgotten, and that certificate."""
    authority = ec.generate_private_key(_CURVE)
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "boba example authority")])
    root = (
        _certificate(issuer, issuer, authority.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(sign_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), False)
        .sign(authority, hashes.SHA384())
    )
    key = ec.generate_private_key(_CURVE)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    server = (
        _certificate(subject, issuer, key.public_key())
        .add_extension(x509.SubjectAlternativeName([_name(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(sign_certificates=False), critical=True)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), False
        )
        .sign(authority, hashes.SHA384())
    )
    (folder / "ca.crt").write_bytes(root.public_bytes(serialization.Encoding.PEM))
    (folder / "server.crt").write_bytes(server.public_bytes(serialization.Encoding.PEM))
    _write_private(folder / "server.key", key, serialization.PrivateFormat.PKCS8)


def write_node_key(path: Path) -> None:
    """A key pair as ssh-keygen -t ecdsa writes it, which is what Flower reads."""
    key = ec.generate_private_key(_CURVE)
    _write_private(path, key, serialization.PrivateFormat.OpenSSH)
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    path.with_suffix(".pub").write_bytes(public + b"\n")


def write_connection(folder: Path, address: str) -> None:
    """Where `flwr` finds the SuperLink, for FLWR_HOME=folder/flwr."""
    home = folder / "flwr"
    home.mkdir()
    (home / "config.toml").write_text(
        "[superlink]\n"
        'default = "deployment"\n\n'
        "[superlink.deployment]\n"
        f'address = "{address}"\n'
        f'root-certificates = "{folder / "ca.crt"}"\n'
    )


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + _VALID)
    )


def _usage(sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return x509.DNSName(host)


def _write_private(
    path: Path, key: ec.EllipticCurvePrivateKey, form: serialization.PrivateFormat
) -> None:
    data = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
