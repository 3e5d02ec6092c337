"""`pose data info`: what a HumanEva-I tree holds and lacks."""

from __future__ import annotations

from pipelines.commands.arguments import DataArgument
from pipelines.terminal.console import output, reporting


def data_info_command(root: DataArgument) -> None:
    """Show what a tree holds and lacks, its frames by trial and camera, and the counts of its partitions."""
    from pipelines.data.info import has_own_table, survey
    from pipelines.data.tables import frames_table, partitions_table

    with reporting() as reporter:
        info = survey(root, reporter)
        for note in info.notes:
            reporter.warn(note)
        for fault in info.faults:
            reporter.fault(fault)
    data = info.data
    table = "its own partitions.json" if has_own_table(data) else "HumanEva-I's own table"
    print(f"root        {data.root}")
    print(f"subjects    {' '.join(subject.name for subject in data.subjects)}")
    print(f"actions     {' '.join(data.actions) or 'none'}")
    print(f"cameras     {' '.join(data.cameras) or 'none'}")
    print(f"partitions  by {table}")
    for part in info.missing or ["nothing"]:
        print(f"missing     {part}")
    print()
    output.print(frames_table(info))
    output.print(partitions_table(info))
    for row in info.frames:
        if row.reason:
            print(f"{row.trial} {row.camera}".rstrip() + f": none is used: {row.reason}")
    print("named: by the partitions; valid: by the markers; used: every joint known, an offset, and in the video;")
    print("valid, of partitions: also every joint known; scheme: what the setting data.scheme takes")
