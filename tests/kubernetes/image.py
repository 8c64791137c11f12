"""Container images made on the spot, as archives that `ctr images import` takes.

    write_image(path, "localhost/busybox:test", busybox_files())
    write_image(path, "localhost/koordlet:test", program_files("build/bin/koordlet"),
                entrypoint=["/koordlet"])
"""

import hashlib
import io
import json
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUSYBOX = "localhost/busybox:test"  # also the pause image: its command sleeps


def busybox_files():
    """path: content (bytes), or the target (str) of a link"""
    program = shutil.which("busybox")
    applets = subprocess.run([program, "--list"], text=True, capture_output=True, check=True).stdout
    files = {"bin/busybox": pathlib.Path(program).read_bytes()}
    files.update({f"bin/{applet}": "busybox" for applet in applets.split() if applet != "busybox"})
    return files


def program_files(program):
    """A program with the libraries that it was linked with, as in our Containerfile."""
    with tempfile.TemporaryDirectory() as root:
        subprocess.run([REPOSITORY / "scripts" / "image-root.sh", program, root], check=True)
        paths = [path for path in pathlib.Path(root).rglob("*") if path.is_file()]
        return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def write_image(path, name, files, entrypoint=(), command=("/bin/sleep", "infinity"), user=""):
    layer = archive(files)
    config = json.dumps({
        "architecture": "amd64", "os": "linux",
        "config": {"Entrypoint": list(entrypoint), "Cmd": [] if entrypoint else list(command),
                   "Env": ["PATH=/bin"], "User": user},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
    }).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", config),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar", layer)],
    }).encode()
    index = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{**descriptor("application/vnd.oci.image.manifest.v1+json", manifest),
                       "annotations": {"io.containerd.image.name": name}}],
    }).encode()
    blobs = {f"blobs/sha256/{digest(blob)[7:]}": blob for blob in (layer, config, manifest)}
    pathlib.Path(path).write_bytes(archive({
        "oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": index, **blobs}))


def archive(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        folders = {str(parent) for file in files for parent in pathlib.Path(file).parents}
        for folder in sorted(folders - {"."}):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.mode = 0o755
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                tar.addfile(entry)
            else:
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def digest(blob):
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def descriptor(media_type, blob):
    return {"mediaType": media_type, "digest": digest(blob), "size": len(blob)}
