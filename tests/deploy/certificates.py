"""Makes certificates by openssl, as an authority of a cluster would."""

import subprocess
import tempfile

NEW = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]


def secret(dns_names):
    """The texts of a Secret for TLS: {key: PEM}."""
    names = ",".join("DNS:" + name for name in dns_names)
    with tempfile.TemporaryDirectory() as folder:
        def run(*arguments):
            subprocess.run([*NEW, *arguments], cwd=folder, check=True, capture_output=True)

        run("-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt")
        # Without a subject, as cert-manager's.
        run("-subj", "/", "-keyout", "tls.key", "-out", "tls.crt", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-addext", "subjectAltName=critical," + names, "-addext", "basicConstraints=critical,CA:FALSE",
            "-addext", "keyUsage=critical,digitalSignature,keyEncipherment",
            "-addext", "extendedKeyUsage=serverAuth,clientAuth")
        texts = {}
        for name in ["tls.crt", "tls.key", "ca.crt"]:
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                texts[name] = file.read()
        return texts
