"""`pose data convert`: poses that other tools made of HumanEva-I, and the toolkit's result files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def data_convert_command(
    source: Annotated[
        Path,
        typer.Argument(
            help="Folder converted_15j or a .mat in it, data_3d_humaneva15.npz, or a result of the toolkit, .xml; "
            "poses in the world's axes, to make such a result."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file to make, .csv, .h5 ... .xml; of several sequences a folder.")
    ],
    to: Annotated[
        str | None, typer.Option(help="The format, of csv, npz, h5, json, trc, c3d, xml. Default: by --out.")
    ] = None,
    sequence: Annotated[
        str | None, typer.Option(help="What a result is of: 'S1 Walking 1 Validate'. Needed for xml.")
    ] = None,
    first_frame: Annotated[
        int | None, typer.Option(help="Toolkit frame, from 1, of a result's first pose. Default: as numbered.")
    ] = None,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Read the .npz, which is a pickle; nothing but arrays is built.")
    ] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace files that are there.")] = False,
) -> None:
    """Convert poses that other tools made of HumanEva-I; or poses to a result file of its toolkit.

    Poses become relative to the pelvis; frames that lack a joint have none.
    """
    from pipelines.pose_files.convert import ConvertRequest, convert

    request = ConvertRequest(source, out, to, sequence, first_frame, allow_pickle, overwrite)
    for path, n_poses in convert(request):
        print(f"wrote {path}: {n_poses} poses")
