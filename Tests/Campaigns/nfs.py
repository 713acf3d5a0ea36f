#!/usr/bin/python3
"""Two nodes of a fleet share a directory over real NFS; each is a machine of its own, emulated by QEMU.

    nfs.py --kernel DIRECTORY --tools DIRECTORY [--programs DIRECTORY] [--scale N]

Guest a exports a directory of its ext4 disk and mounts it from itself, guest b mounts it over the network. PostgreSQL and
the server of the file run on this machine. b gets the permit to publish a file and is stopped (SIGSTOP, agent and xferd)
before it renames. a takes over, removes the part and publishes. b goes on. Then there is one file with the right digest, no
part, one end, and b holds nothing. Exit status 1 when one of these does not hold, 2 when the guests do not start.

--kernel has an unpacked linux-image of Debian, --tools the unpacked nfs-kernel-server, nfs-common and libwrap0.
"""

import argparse
import hashlib
import http.server
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

#: Beneath the directories of a guest's modules; their dependencies come with them.
MODULES = [
    "virtio_pci", "virtio_net", "virtio_blk", "9pnet_virtio", "9p", "crc32c_generic", "ext4", "nfsd", "nfsv4",
]
CONTENT = bytes(number * 7 % 251 for number in range(1_500_000))
#: Seconds for anything that a guest does: it is emulated.
PATIENCE = 400

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /root
/bin/busybox mount -t proc proc /proc
for module in $(/bin/busybox cat /modules/order); do /bin/busybox insmod /modules/$module; done
mount() { /bin/busybox mount "$@"; }
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro system /root
mount -t tmpfs tmpfs /root/tmp
mount -t tmpfs tmpfs /root/run
mount -t tmpfs tmpfs /root/mnt
mount -t proc proc /root/proc
mount -t sysfs sysfs /root/sys
mount -t devtmpfs devtmpfs /root/dev
cd /root/mnt
/bin/busybox mkdir share disk nas tools programs
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none share share
for name in tools programs; do
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro $name $name
done
/bin/busybox ip link set lo up
exec /bin/busybox chroot /root /bin/sh /mnt/share/serve
"""

#: Carries out the files call-1, call-2, … of the share, in their order.
SERVE = """
exec > /mnt/share/log 2>&1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8
number=1
while true; do
    if [ -e /mnt/share/call-$number ]; then
        sh /mnt/share/call-$number > /mnt/share/output-$number 2>&1 < /dev/null
        echo $? > /mnt/share/status-$number.new
        mv /mnt/share/status-$number.new /mnt/share/status-$number
        number=$((number + 1))
    else
        sleep 0.1
    fi
done
"""


def fail(message):
    sys.exit(f"nfs.py: {message}")


def wait_until(question, what, patience=PATIENCE, every=0.1):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(every)
    raise TimeoutError(f"not within {patience} s: {what}")


class Modules:
    """The kernel's modules that a guest needs, in the order in which they are loaded."""

    def __init__(self, kernel):
        self.files = {path.name.split(".")[0].replace("-", "_"): path for path in kernel.rglob("*.ko")}
        self.order = []
        for name in MODULES:
            self.add(name)

    def add(self, name):
        if name in self.order or name not in self.files:
            return
        data = self.files[name].read_bytes()
        at = data.find(b"\0depends=") + 9
        for needed in data[at:data.index(b"\0", at)].decode().split(","):
            self.add(needed.replace("-", "_"))
        self.order.append(name)


def archive(files):
    """A cpio archive of the kind that the kernel unpacks (newc)."""
    parts = []
    for number, (name, (mode, data)) in enumerate([*files.items(), ("TRAILER!!!", (0, b""))], start=1):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]
    return b"".join(parts)


def initial_file_system(kernel):
    modules = Modules(kernel)
    files = {name: (0o040755, b"") for name in ["bin", "modules", "dev"]}
    files["bin/busybox"] = (0o100755, pathlib.Path(shutil.which("busybox")).read_bytes())
    files["init"] = (0o100755, INIT.encode())
    for name in modules.order:
        files[f"modules/{name}.ko"] = (0o100644, modules.files[name].read_bytes())
    files["modules/order"] = (0o100644, " ".join(f"{name}.ko" for name in modules.order).encode())
    return archive(files)


class Guest:
    """A machine whose root is this one's, read-only, with memory in place of /tmp, /run and /mnt."""

    def __init__(self, name, address, place, options, link, disk=None):
        self.name, self.address, self.calls = name, address, 0
        self.share = place / name
        self.share.mkdir()
        (self.share / "serve").write_text(SERVE)
        initial = place / "initial"
        if not initial.exists():
            initial.write_bytes(initial_file_system(options.kernel))
        image = next((options.kernel / "boot").glob("vmlinuz-*"))
        command = [
            "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "1024", "-display", "none", "-monitor", "none",
            "-serial", f"file:{place / name}.console", "-no-reboot", "-kernel", image, "-initrd", initial,
            "-append", "console=ttyS0 panic=-1 quiet mitigations=off no_timer_check",
            "-virtfs", "local,path=/,mount_tag=system,security_model=none,readonly=on,multidevs=remap",
            "-virtfs", f"local,path={self.share},mount_tag=share,security_model=none",
            "-virtfs", f"local,path={options.tools},mount_tag=tools,security_model=none,readonly=on",
            "-virtfs", f"local,path={options.programs},mount_tag=programs,security_model=none,readonly=on",
            "-netdev", "user,id=out", "-device", "virtio-net-pci,netdev=out,mac=52:54:00:00:00:01",
            "-netdev", f"socket,id=link,{link}", "-device", f"virtio-net-pci,netdev=link,mac=52:54:00:00:01:0{address[-1]}",
        ]
        if disk:
            command += ["-drive", f"file={disk},format=raw,if=virtio,cache=unsafe"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=open(f"{place / name}.qemu", "w"))

    def call(self, script, check=True):
        """The output of a shell script in the guest."""
        self.calls += 1
        new = self.share / "new"
        new.write_text(script)
        new.rename(self.share / f"call-{self.calls}")
        status = self.share / f"status-{self.calls}"
        wait_until(lambda: status.exists() or self.process.poll() is not None, f"{self.name}: {script}")
        if not status.exists():
            fail(f"guest {self.name} has ended: {self.share}.console")
        output = (self.share / f"output-{self.calls}").read_text()
        if check and status.read_text().strip() != "0":
            raise RuntimeError(f"{self.name}: {script}: {output}")
        return output

    def connect(self):
        self.call(f"""
            ip address add 10.0.2.15/24 dev eth0; ip link set eth0 up; ip route add default via 10.0.2.2
            ip address add {self.address}/24 dev eth1; ip link set eth1 up""")

    def start(self, database, scale):
        self.call(f"""
            cat > /tmp/config.yaml << YAML
download: {{ dir: /mnt/nas, roots: [/mnt/nas], reserve: 1Mi }}
fleet:
  database: "{database}"
  node: {self.name}
  socket: /tmp/fleet.sock
  daemon: /tmp/xferd.sock
  storages: {{ nas: /mnt/nas }}
YAML
            export XFER_FLEET_TIME_SCALE={scale}
            /mnt/programs/xferd --config /tmp/config.yaml --state-dir /tmp/state --socket /tmp/xferd.sock --foreground-log \\
                > /mnt/share/xferd.log 2>&1 < /dev/null &
            echo $! > /tmp/xferd.pid
            /mnt/programs/xfer-fleet run --config /tmp/config.yaml --state-dir /tmp/state --foreground-log \\
                > /mnt/share/agent.log 2>&1 < /dev/null &
            echo $! > /tmp/agent.pid""")

    def signal(self, signal, *names):
        self.call("; ".join(f"kill -{signal} $(cat /tmp/{name}.pid)" for name in names))


class Database:
    """A PostgreSQL of its own on 127.0.0.1, which the guests see as 10.0.2.2."""

    def __init__(self, place):
        self.programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.place, self.data = place, place / "data"
        owner = pwd.getpwnam("postgres") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        place.mkdir()
        os.chown(place, owner.pw_uid, owner.pw_gid)
        self.user = owner.pw_name if os.getuid() == 0 else None
        self.port = free_port()
        self.run("initdb", "-D", self.data, "-U", "fleet", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8")
        self.run("pg_ctl", "-D", self.data, "-w", "-l", place / "log", "-o",
                 f"-k {place} -p {self.port} -c listen_addresses=127.0.0.1", "start")
        self.sql("CREATE DATABASE fleet", "postgres")

    def run(self, program, *arguments):
        subprocess.run([self.programs / program, *arguments], check=True, stdout=subprocess.DEVNULL, user=self.user, cwd="/",
                       extra_groups=[] if self.user else None)

    def sql(self, statement, database="fleet"):
        return subprocess.run(self.psql(database) + ["-c", statement], check=True, capture_output=True, text=True).stdout.strip()

    def psql(self, database="fleet"):
        return [str(self.programs / "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
                "-U", "fleet", "-d", database]

    def address(self, host):
        return f"host={host} port={self.port} user=fleet dbname=fleet sslmode=disable"

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")


class PermitLock:
    """Keeps permits from being given while it is held; they may be read."""

    def __init__(self, database):
        self.database = database
        self.session = subprocess.Popen(database.psql(), stdin=subprocess.PIPE, text=True)
        self.session.stdin.write("BEGIN; LOCK TABLE fleet_permit IN SHARE MODE;\n")
        self.session.stdin.flush()
        wait_until(lambda: self.count("l.granted AND l.mode = 'ShareLock'"), "the lock is held")

    def count(self, condition):
        return int(self.database.sql(
            "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            f" WHERE l.relation = 'fleet_permit'::regclass AND {condition}"))

    @property
    def is_waited_for(self):
        return self.count("NOT l.granted AND a.query LIKE '%fleet_permit($1%'") > 0

    def release(self):
        self.session.communicate("COMMIT;\n")


class Source(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests = 0

    def do_GET(self):
        type(self).requests += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.send_header("ETag", '"1"')
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *arguments):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def export(guest):
    """Makes the guest a file server, of version 4 of the protocol alone."""
    guest.call("""
        set -e
        export LD_LIBRARY_PATH=/mnt/tools/lib/x86_64-linux-gnu:/mnt/tools/usr/lib/x86_64-linux-gnu
        mount -t ext4 /dev/vda /mnt/disk
        mkdir -p /mnt/disk/export
        mount -t tmpfs tmpfs /var/lib && mkdir -p /var/lib/nfs/v4recovery /run/nfs
        touch /var/lib/nfs/etab /var/lib/nfs/rmtab
        mount -t nfsd nfsd /proc/fs/nfsd
        /mnt/tools/usr/sbin/exportfs -i -o rw,sync,no_root_squash,no_subtree_check,insecure,fsid=0 '*:/mnt/disk/export'
        /mnt/tools/usr/sbin/rpc.mountd -N 3
        /mnt/tools/usr/sbin/rpc.nfsd -p 2049 -N 3 -V 4.2 4
        cat /proc/fs/nfsd/threads /proc/fs/nfsd/versions""")


def mount(guest, server):
    guest.call(f"busybox mount -t nfs4 -o vers=4.2,addr={server},clientaddr={guest.address} {server}:/ /mnt/nas && grep nfs4 /proc/mounts")


def calls(guest):
    def ctl(*arguments, check=True):
        words = " ".join(f"'{argument}'" for argument in arguments)
        return guest.call(f"XFERD_FLEET_SOCKET=/tmp/fleet.sock /mnt/programs/xferctl {words}", check)
    return ctl


def campaign(options, place):
    for name in ["programs", "kernel", "tools"]:
        setattr(options, name, pathlib.Path(getattr(options, name)).resolve())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Source)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    database = Database(place / "postgres")
    guests = []
    try:
        disk = place / "disk"
        with open(disk, "wb") as file:
            file.truncate(256 << 20)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", disk], check=True)
        port = free_port()
        a = Guest("a", "10.9.0.1", place, options, f"listen=127.0.0.1:{port}", disk)
        guests.append(a)
        time.sleep(1)
        b = Guest("b", "10.9.0.2", place, options, f"connect=127.0.0.1:{port}")
        guests.append(b)
        begin = time.monotonic()
        for guest in guests:
            guest.connect()
        print(f"both guests run after {time.monotonic() - begin:.0f} s: {a.call('uname -r').strip()}", flush=True)
        export(a)
        for guest in guests:
            mount(guest, a.address)
        a.call("echo nas > /mnt/nas/.xfer-storage")
        print("both have mounted: " + b.call("grep ' nfs4 ' /proc/mounts | cut -c1-150").strip(), flush=True)

        configuration = place / "config.yaml"
        configuration.write_text(f'fleet:\n  database: "{database.address("127.0.0.1")}"\n  node: host\n')
        subprocess.run([options.programs / "xfer-fleet", "migrate", "--config", configuration], check=True)
        for guest in guests:
            guest.start(database.address("10.0.2.2"), options.scale)
        wait_until(lambda: database.sql("SELECT count(*) FROM fleet_node WHERE 'storage:nas' = ANY (places)") == "2",
                   "both have joined with the storage")
        check(a, b, database, server)
    finally:
        for guest in guests:
            guest.process.kill()
            guest.process.wait()
        database.stop()


def check(a, b, database, server):
    ctl_a, ctl_b = calls(a), calls(b)
    ctl_b("fleet", "drain", "a")
    time.sleep(6)
    lock = PermitLock(database)
    ctl_b("fleet", "add", "--place", "storage:nas", "-d", "/", f"http://10.0.2.2:{server.server_port}/file")
    wait_until(lambda: lock.is_waited_for, "b asks for the permit")
    b.signal("STOP", "xferd")
    lock.release()
    wait_until(lambda: database.sql("SELECT count(*) FROM fleet_permit") == "1", "the permit is given")
    b.signal("STOP", "agent")
    part, inode = database.sql("SELECT part, inode FROM fleet_permit").split("|")
    # b's kernel knows the part by its name from here on, and keeps that for a while.
    b.call(f"stat /mnt/nas/{part}")
    print(f"b has the permit for {part} (inode {inode}) and is stopped before the rename", flush=True)
    ctl_a("fleet", "undrain", "a")
    wait_until(lambda: database.sql("SELECT state FROM fleet_end") == "completed", "a completes the task")
    first = a.call("stat -c '%i %s' /mnt/nas/file; sha256sum < /mnt/nas/file")
    print(f"a has published: {first.split()}", flush=True)
    b.signal("CONT", "xferd")
    time.sleep(2)
    b.signal("CONT", "agent")

    def is_forgotten():
        nodes = database.sql("SELECT count(*) FROM fleet_node WHERE NOT is_down")
        held = json.loads(b.call("/mnt/programs/xferctl list --socket /tmp/xferd.sock --json") or "{}")
        return nodes == "2" and not (held if isinstance(held, list) else held.get("tasks"))

    wait_until(is_forgotten, "b joins again and drops the task", every=1)
    faults = []
    digest = hashlib.sha256(CONTENT).hexdigest()
    for guest in (a, b):
        guest.call("echo 3 > /proc/sys/vm/drop_caches")
        names = guest.call("ls -A /mnt/nas").split()
        if sorted(names) != [".xfer-storage", "file"]:
            faults.append(f"{guest.name} sees {names}")
        after = guest.call("stat -c '%i %s' /mnt/nas/file; sha256sum < /mnt/nas/file")
        if digest not in after:
            faults.append(f"{guest.name} reads other bytes: {after}")
        if after != first:
            faults.append(f"{guest.name} sees another file than was published: {after}, before: {first}")
    ends = database.sql("SELECT count(*) FROM fleet_event WHERE kind = 'ended'")
    if ends != "1":
        faults.append(f"{ends} ends were told")
    if Source.requests != 2:
        faults.append(f"{Source.requests} requests, expected 2")
    refusals = [line for line in (b.share / "xferd.log").read_text().splitlines() if "warning" in line or "error" in line]
    print("b's xferd says: " + "; ".join(refusals[-3:]), flush=True)
    if faults:
        fail("; ".join(faults))
    print(f"one file, the right digest, no part, one end, {Source.requests} requests")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--programs", default=pathlib.Path(__file__).resolve().parents[2] / ".build/debug")
    parser.add_argument("--scale", type=int, default=1, help="divides all times of beats and leases")
    parser.add_argument("--keep", action="store_true", help="leaves the directory with all logs")
    options = parser.parse_args()
    place = pathlib.Path(tempfile.mkdtemp(prefix="xfer-nfs-"))
    place.chmod(0o755)
    begin = time.monotonic()
    try:
        campaign(options, place)
    except BaseException:
        options.keep = True
        print(f"logs: {place}", file=sys.stderr)
        raise
    finally:
        if not options.keep:
            shutil.rmtree(place)
    print(f"passed after {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
