"""Checks the derivative of lull bids with independent validators: check_bids.py LULL SOURCE

bids-validator-deno must accept the raw dataset and the derivative without an error, and bosh the
Boutiques descriptor in farm/. The test is skipped (77) if neither is installed.
"""
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

lull, source = sys.argv[1], pathlib.Path(sys.argv[2])
programs = pathlib.Path(sys.executable).parent


def tool(name):
    return shutil.which(name) or shutil.which(name, path=str(programs))


validator, bosh = tool("bids-validator-deno"), tool("bosh")
if not validator and not bosh:
    print("skipped: no bids-validator-deno and no bosh")
    sys.exit(77)


def write_nifti(path, volumes):
    """NIfTI-1, 16 bits, 24 x 20 x 12 voxels of 2 mm, with noise."""
    rng = random.Random(str(path))
    size = (24, 20, 12)
    dims = [4 if volumes > 1 else 3, *size, volumes, 1, 1, 1]
    header = struct.pack("<i10s18sihcB", 348, b"", b"", 0, 0, b"r", 0)
    header += struct.pack("<8h", *dims) + struct.pack("<3fhhhh", 0, 0, 0, 0, 4, 16, 0)
    header += struct.pack("<8f", 1, 2, 2, 2, 2, 1, 1, 1) + struct.pack("<ffffBB", 352, 1, 0, 0, 0, 10)
    header = header.ljust(252, b"\0") + struct.pack("<hh6f", 1, 0, 0, 0, 0, 0, 0, 0)
    header = header.ljust(344, b"\0") + b"n+1\0" + b"\0\0\0\0"
    voxels = [max(0, round(300 + 8 * x + 5 * y + 10 * z + rng.gauss(0, 20)))
              for _ in range(volumes) for z in range(size[2]) for y in range(size[1])
              for x in range(size[0])]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + struct.pack("<%dh" % len(voxels), *voxels))


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def make_dataset(root):
    write_json(root / "dataset_description.json",
               {"Name": "lull test", "BIDSVersion": "1.10.0", "DatasetType": "raw",
                "License": "CC0", "Authors": ["A", "B"]})
    (root / "README.md").write_text("A made-up dataset for tests, with enough words. " * 5)
    anat, func, dwi = (root / "sub-01" / kind for kind in ("anat", "func", "dwi"))
    write_nifti(anat / "sub-01_T1w.nii", 1)
    write_json(anat / "sub-01_T1w.json", {"MagneticFieldStrength": 3})
    write_nifti(func / "sub-01_task-rest_bold.nii", 3)
    write_json(func / "sub-01_task-rest_bold.json", {"RepetitionTime": 2.0, "TaskName": "rest"})
    write_nifti(dwi / "sub-01_dwi.nii", 3)
    write_json(dwi / "sub-01_dwi.json", {"EchoTime": 0.1})
    (dwi / "sub-01_dwi.bval").write_text("0 1000 1000\n")
    (dwi / "sub-01_dwi.bvec").write_text("0 1 0\n0 0 1\n0 0 0\n")


def errors_of(folder):
    """Returns the errors that the validator reports."""
    run = subprocess.run([validator, str(folder), "--json"], capture_output=True, text=True)
    issues = json.loads(run.stdout[run.stdout.index("{"):])["issues"]["issues"]
    return [issue for issue in issues if issue.get("severity") == "error"]


with tempfile.TemporaryDirectory() as folder:
    raw = pathlib.Path(folder) / "raw"
    out = pathlib.Path(folder) / "lull"
    make_dataset(raw)
    subprocess.run([lull, "bids", raw, out, "participant", "--device", "cpu", "--profile", "fast",
                    "-q"], check=True)
    made = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    assert "sub-01/dwi/sub-01_desc-denoised_dwi.bvec" in made, made
    assert len(made) == 3 + 3 * 2 + 2, made
    if validator:
        for dataset in (raw, out):
            assert errors_of(dataset) == [], (dataset, errors_of(dataset))
    if bosh:
        subprocess.run([bosh, "validate", source / "farm/boutiques/lull.json"], check=True)
print("passed", "with" if validator else "without", "bids-validator-deno,",
      "with" if bosh else "without", "bosh")
