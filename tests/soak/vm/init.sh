#!/bin/busybox sh
# The first process of the virtual machine. It mounts the host's files and cgroup
# version 2, and then executes the command.
export PATH=/bin:/usr/bin:/sbin:/usr/sbin HOME=/root LANG=C.UTF-8
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for module in /modules/*.ko; do insmod "$module"; done

# The host's files, read-only; an overlay keeps all changes in memory.
mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=512000 host /host
mount -t tmpfs over /over
mkdir /over/upper /over/work
mount -t overlay -o lowerdir=/host,upperdir=/over/upper,workdir=/over/work all /root

# /tmp is not replaced, because the checkout may be there.
for place in run dev/shm; do
  case $place in dev/shm) mount -t devtmpfs dev /root/dev; mkdir -p /root/dev/shm ;; esac
  mount -t tmpfs -o mode=1777 tmpfs "/root/$place"
done
chmod 755 /root/run
mkdir -p /root/dev/pts /root/out
mount -t devpts devpts /root/dev/pts
mount -t proc proc /root/proc
mount -t sysfs sysfs /root/sys
mount -t cgroup2 cgroup2 /root/sys/fs/cgroup
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 out /root/out
ifconfig lo 127.0.0.1 up
cp /command /bin/busybox /root/run/
# In a chroot, the kernel would refuse to make user namespaces.
exec switch_root /root /bin/sh /run/command
