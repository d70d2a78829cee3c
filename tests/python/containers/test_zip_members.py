"""Members of zips: what is read of them, and what is refused before it costs anything."""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from passk_py.common.errors import PasskError
from passk_py.ingest.containers.open_bytes import read_chunk
from passk_py.ingest.containers.zip_members import ZipMembers, _plain_directory, names_in

TEXT = "Zürich — ende\n".encode() * 10_000


def packed(
    name: str = "a.json",
    text: bytes = TEXT,
    *,
    method: int = 93,
    data: bytes | None = None,
    size: int | None = None,
    flags: int = 0,
) -> bytes:
    """Make a zip of one member by hand, so that it may say what is not true."""
    if data is None:
        data = zstandard.ZstdCompressor().compress(text) if method == 93 else text
    called = name.encode()
    common = struct.pack(
        "<HHHHHIIIHH",
        20, flags, method, 0, 33, zlib.crc32(text), len(data),
        len(text) if size is None else size, len(called), 4,
    )  # fmt: skip
    extra = struct.pack("<HH", 0xCAFE, 0)
    local = b"PK\3\4" + common + called + extra + data
    central = b"PK\1\2" + struct.pack("<H", 20) + common + b"\0" * 14 + called + extra
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + end


def read(data: bytes, name: str = "a.json", **options: Any) -> bytes | None:
    with ZipMembers(io.BytesIO(data), **options).opened(name) as member:
        return read_chunk(member, 1 << 30)


@pytest.mark.parametrize("method", [0, 93])
def test_a_member_is_read_behind_its_local_header(method: int) -> None:
    assert read(packed(method=method)) == TEXT


def test_a_deflated_member_is_read_too() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("ä.json", TEXT)
    assert read(file.getvalue(), "ä.json") == TEXT


def test_several_frames_of_zstd_are_one_member() -> None:
    half = len(TEXT) // 2
    pack = zstandard.ZstdCompressor().compress
    assert read(packed(data=pack(TEXT[:half]) + pack(TEXT[half:]))) == TEXT


def test_reading_in_small_pieces_gives_the_same_bytes() -> None:
    with ZipMembers(io.BytesIO(packed())).opened("a.json") as member:
        pieces = iter(lambda: member.read(1000), b"")
        assert b"".join(pieces) == TEXT


def test_a_member_that_says_it_is_too_large_is_refused() -> None:
    with pytest.raises(PasskError, match="larger than 100000 bytes"):
        read(packed(), most=100_000)


def test_a_member_that_hides_how_large_it_is_is_refused_while_it_is_read() -> None:
    bomb = zstandard.ZstdCompressor().compress(b"\0" * (64 << 20))
    assert len(bomb) < 10_000
    with pytest.raises(PasskError, match="larger than 1048576 bytes"):
        read(packed(data=bomb, size=10), most=1 << 20)


@pytest.mark.parametrize("name", ["../a.json", "b/../../a.json", "/a.json", "..\\a.json"])
def test_a_name_that_leads_out_of_the_zip_is_refused(name: str) -> None:
    listed = ZipMembers(io.BytesIO(packed(name))).names[0]
    with pytest.raises(PasskError, match="leads out of it"):
        read(packed(name), listed)


def test_an_encrypted_member_is_refused() -> None:
    with pytest.raises(PasskError, match="is encrypted"):
        read(packed(method=0, flags=1))


def test_a_method_whose_output_can_not_be_bounded_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as made:
        made.writestr("a.json", TEXT)
    with pytest.raises(PasskError, match="the method 14"):
        read(file.getvalue())


def test_a_wrong_checksum_is_damage() -> None:
    with pytest.raises(OSError, match="its checksum is wrong"):
        read(packed(data=zstandard.ZstdCompressor().compress(TEXT[::-1])))


def test_zstd_that_is_none_is_damage() -> None:
    with pytest.raises(OSError, match=r"(?i)frame|magic|descriptor"):
        read(packed(data=b"not zstd at all"))


def test_a_member_that_is_cut_off_gives_what_there_is_of_it() -> None:
    whole = zstandard.ZstdCompressor(level=1).compress(TEXT)
    with ZipMembers(io.BytesIO(packed(data=whole[:-3]))).opened("a.json") as member:
        pieces = []
        while piece := read_chunk(member, 1 << 16):
            pieces.append(piece)
        # None, not nothing: the end is not where it should be.
        assert piece is None
        assert TEXT.startswith(b"".join(pieces))


def test_a_member_that_is_not_where_the_zip_says_is_damage() -> None:
    data = bytearray(packed())
    data[0:4] = b"XXXX"
    with pytest.raises(OSError, match="not where the zip says"):
        read(bytes(data))


def test_a_zip_without_its_end_is_damaged() -> None:
    with pytest.raises(OSError, match="a damaged zip"):
        ZipMembers(io.BytesIO(packed()[:-10]))


def test_closing_a_member_leaves_the_file_open() -> None:
    file = io.BytesIO(packed())
    members = ZipMembers(file)
    for _ in range(2):
        with members.opened("a.json") as member:
            assert member.read(5) == TEXT[:5]
    assert not file.closed


def test_the_directory_that_was_looked_at_is_not_another_files(tmp_path: Path) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    first.write_bytes(packed("a.json"))
    second.write_bytes(packed("b.json"))
    assert names_in(first) == ("a.json",)
    with second.open("rb") as file:
        assert ZipMembers(file).names == ("b.json",)
    assert names_in(first) == ("a.json",)
    first.write_bytes(packed("longer.json"))
    with first.open("rb") as file:
        assert ZipMembers(file).names == ("longer.json",)


LOGS = Path(__file__).parent.parent / "formats/fixtures/inspect/logs"


def of_zipfile(data: bytes) -> dict[str, zipfile.ZipInfo] | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return {info.filename: info for info in file.infolist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return None


def shown(info: zipfile.ZipInfo) -> tuple[object, ...]:
    names = (
        "filename", "flag_bits", "compress_type", "CRC", "compress_size", "file_size",
        "header_offset",
    )  # fmt: skip
    return tuple(getattr(info, name) for name in names)


def same_as_zipfile(data: bytes) -> bool:
    """Hold a directory against zipfile's, if it is plain; false if it is not."""
    plain = _plain_directory(io.BytesIO(data))
    if plain is None:
        return False
    infos = of_zipfile(data)
    assert infos is not None
    assert plain.names == tuple(infos)
    assert [shown(plain[name]) for name in infos] == [shown(info) for info in infos.values()]
    return True


def test_the_directory_of_most_logs_of_inspect_is_plain() -> None:
    plain = [same_as_zipfile(log.read_bytes()) for log in sorted(LOGS.rglob("*.eval"))]
    assert sum(plain) > len(plain) / 2


def test_a_plain_directory_is_what_zipfile_says() -> None:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as made:
        warnings.simplefilter("ignore")
        for name in ("a", "b/c", "a", "d"):
            made.writestr(name, name * 3)
    data = file.getvalue()
    assert same_as_zipfile(data)
    dice = random.Random(5)
    start = data.index(b"PK\1\2")
    plain = 0
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(dice.choice([1, 1, 3])):
            changed[dice.randrange(start, len(data))] = dice.choice([0, 1, 32, 65, 255])
        plain += same_as_zipfile(bytes(changed))
    # The names, sizes and places of members may change, and it is still a directory.
    assert 300 < plain < 2700


@pytest.mark.parametrize("change", ["comment", "extra", "before", "name", "version"])
def test_a_directory_that_is_not_plain_is_left_to_zipfile(change: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        info = zipfile.ZipInfo("ä" if change == "name" else "a")
        info.comment = b"!" if change == "comment" else b""
        info.extra = b"\xfe\xca\0\0" if change == "extra" else b""
        if change == "version":
            info.extract_version = info.create_version = 200
        made.writestr(info, "text")
    data = (b"before" if change == "before" else b"") + file.getvalue()
    if change == "version":
        assert _plain_directory(io.BytesIO(data)) is None
        with pytest.raises(OSError, match="a damaged zip"):
            ZipMembers(io.BytesIO(data))
        return
    assert not same_as_zipfile(data)
    with ZipMembers(io.BytesIO(data)).opened(info.filename) as member:
        assert member.read() == b"text"
