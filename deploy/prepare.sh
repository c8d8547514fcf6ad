#!/bin/sh
# Install what pip cannot install: Python's venv module, and for the sandbox libseccomp and
# Bubblewrap. Root needs Bubblewrap, too: on hosts whose kernel refuses our own namespaces.
# On Debian and Ubuntu this script installs the packages, with sudo if needed. On other
# systems it prints what to install. It fails only if the venv module is missing.
set -u
python=${1:-python3}

have_venv() { "$python" -c 'import venv, ensurepip' 2>/dev/null; }
have_bwrap() { command -v bwrap >/dev/null 2>&1; }
have_seccomp() { ldconfig -p 2>/dev/null | grep -q libseccomp.so.2 || /sbin/ldconfig -p 2>/dev/null | grep -q libseccomp.so.2; }

wanted=""
have_venv || wanted="$wanted python3-venv"
if [ "$(uname -s)" = Linux ]; then
  have_bwrap || wanted="$wanted bubblewrap"
  have_seccomp || wanted="$wanted libseccomp2"
fi
[ -z "$wanted" ] && exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null 2>&1; then
    # Without a terminal nobody can type a password, so sudo must work without one.
    if [ -t 0 ]; then as_root="sudo"; else as_root="sudo -n"; fi
  else
    as_root="none"
  fi
fi
if command -v apt-get >/dev/null 2>&1 && [ "$as_root" != none ]; then
  echo "Installing$wanted by apt-get …"
  # shellcheck disable=SC2086  # words are meant to be split
  { $as_root apt-get install -y -q $wanted || { $as_root apt-get update -q && $as_root apt-get install -y -q $wanted; }; } >/dev/null 2>&1
fi

if ! have_venv; then
  echo "Python's venv module is missing. Install it (Debian, Ubuntu: apt-get install python3-venv) and try again." >&2
  exit 1
fi
if [ "$(uname -s)" = Linux ] && { ! have_bwrap || ! have_seccomp; }; then
  echo "Note: libseccomp or Bubblewrap is missing, so uploaded bots will have to wait. Install them (Debian, Ubuntu: apt-get install bubblewrap libseccomp2;"
  echo "Fedora: dnf install bubblewrap libseccomp; Arch: pacman -S bubblewrap libseccomp). House bots play without these packages."
fi
exit 0
