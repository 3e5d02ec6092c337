"""Small motion files: a person in BVH and in Acclaim, as text."""

# A person of 175 cm, y up, facing z, his left side at +x, arms spread: joint, parent, offset (cm), children's ends.
MIXAMO = """
Hips - 0 95 0
LeftUpLeg Hips 9 -4 0
LeftLeg LeftUpLeg 0 -43 0
LeftFoot LeftLeg 0 -42 0
LeftToeBase LeftFoot 0 -6 14
RightUpLeg Hips -9 -4 0
RightLeg RightUpLeg 0 -43 0
RightFoot RightLeg 0 -42 0
RightToeBase RightFoot 0 -6 14
Spine Hips 0 10 0
Spine1 Spine 0 20 0
Spine2 Spine1 0 15 0
Neck Spine2 0 10 0
Head Neck 0 10 0
HeadTop_End Head 0 20 0
LeftShoulder Spine2 5 5 0
LeftArm LeftShoulder 13 0 0
LeftForeArm LeftArm 28 0 0
LeftHand LeftForeArm 25 0 0
RightShoulder Spine2 -5 5 0
RightArm RightShoulder -13 0 0
RightForeArm RightArm -28 0 0
RightHand RightForeArm -25 0 0
"""


def bvh_text(table=MIXAMO, frames=({}, {}, {}), rename=lambda name: name, order="Zrotation Xrotation Yrotation"):
    """A BVH file; a frame maps joints to their rotations in `order`, degrees."""
    rows = [line.split() for line in table.split("\n") if line.strip()]
    joints = {row[0]: (row[1], " ".join(row[2:5])) for row in rows}
    listed = []

    def block(name, depth):
        parent, offset = joints[name]
        pad = "  " * depth
        listed.append(name)
        channels = f"6 Xposition Yposition Zposition {order}" if parent == "-" else f"3 {order}"
        lines = [f"{pad}{'ROOT' if parent == '-' else 'JOINT'} {rename(name)}", f"{pad}{{", f"{pad}  OFFSET {offset}"]
        lines.append(f"{pad}  CHANNELS {channels}")
        children = [child for child, (above, _) in joints.items() if above == name]
        for child in children:
            lines += block(child, depth + 1)
        if not children:
            lines += [f"{pad}  End Site", f"{pad}  {{", f"{pad}    OFFSET 0 1 0", f"{pad}  }}"]
        return [*lines, f"{pad}}}"]

    root = rows[0][0]
    text = ["HIERARCHY", *block(root, 0), "MOTION", f"Frames: {len(frames)}", "Frame Time: 0.01"]
    for frame in frames:
        numbers = [frame.get("position", " ".join(rows[0][2:5]))]
        numbers += [" ".join(str(value) for value in frame.get(name, (0, 0, 0))) for name in listed]
        text.append(" ".join(numbers))
    return "\n".join(text) + "\n"


ASF = """# a comment
:version 1.10
:name TEST
:units
  mass 1.0
  length 0.5
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
{bones}
:hierarchy
  begin
    root lhipjoint rhipjoint lowerback
    lhipjoint lfemur
    lfemur ltibia
    ltibia lfoot
    rhipjoint rfemur
    rfemur rtibia
    rtibia rfoot
    lowerback upperback
    upperback thorax
    thorax lowerneck lclavicle rclavicle
    lowerneck upperneck
    upperneck head
    lclavicle lhumerus
    lhumerus lradius
    rclavicle rhumerus
    rhumerus rradius
  end
"""
# name, direction, length (a unit is 50.8 mm), axis, dof
ASF_BONES = """
lhipjoint|1 -0.5 0|2|0 0 0|
lfemur|0 -1 0|8|0 0 0|rx ry rz
ltibia|0 -1 0|8|0 0 90|rx
lfoot|0 0 1|3|0 0 0|rx
rhipjoint|-1 -0.5 0|2|0 0 0|
rfemur|0 -1 0|8|0 0 0|rx ry rz
rtibia|0 -1 0|8|0 0 0|rx
rfoot|0 0 1|3|0 0 0|rx
lowerback|0 1 0|2|0 0 0|rx ry rz
upperback|0 1 0|2|0 0 0|
thorax|0 1 0|2|0 0 0|
lowerneck|0 1 0|2|0 0 0|
upperneck|0 1 0|2|0 0 0|
head|0 1 0|2|0 0 0|rx
lclavicle|1 0.2 0|3|0 0 0|
lhumerus|1 0 0|5|0 0 0|rx ry rz
lradius|1 0 0|5|0 0 0|ry
rclavicle|-1 0.2 0|3|0 0 0|
rhumerus|-1 0 0|5|0 0 0|rx ry rz
rradius|-1 0 0|5|0 0 0|ry
"""


def asf_text(bones=ASF_BONES):
    blocks = []
    for number, line in enumerate(bones.strip().split("\n"), start=1):
        name, direction, length, axis, dof = line.split("|")
        block = [
            "  begin",
            f"    id {number}",
            f"    name {name}",
            f"    direction {direction}",
            f"    length {length}",
        ]
        block.append(f"    axis {axis} XYZ")
        if dof:
            block += [f"    dof {dof}", "    limits (-180.0 180.0)"]
        blocks.append("\n".join([*block, "  end"]))
    return ASF.format(bones="\n".join(blocks))


def amc_text(frames=({}, {}, {}), keyword=":DEGREES"):
    """An AMC file; a frame maps bones to their numbers."""
    widths = {"root": 6}
    widths |= {line.split("|")[0]: len(line.split("|")[4].split()) for line in ASF_BONES.strip().split("\n")}
    text = ["#!OML:ASF test", ":FULLY-SPECIFIED", keyword]
    for number, frame in enumerate(frames, start=1):
        text.append(str(number))
        text += [
            " ".join([name, *(str(value) for value in frame.get(name, [0] * width))])
            for name, width in widths.items()
            if width
        ]
    return "\n".join(text) + "\n"
