#!/bin/sh
# Brings what the tests need beside Python: PostgreSQL's own programs, for the store's tests on it,
# and a Secret Service, for the tests of the keyring.
# The tests start and stop these themselves; nothing here leaves a process behind.

has() {
  command -v "$1" >/dev/null 2>&1
}

has_postgresql() {
  has initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

has_keyring() {
  has dbus-run-session && has gnome-keyring-daemon
}

wanted() {
  has_postgresql || printf ' postgresql'
  has_keyring || printf ' dbus-daemon gnome-keyring'
}

packages=$(wanted)
[ -z "$packages" ] && exit 0
if [ "$(id -u)" = 0 ] && has apt-get; then
  echo "Installing Debian's packages:$packages."
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086  # several words on purpose
  apt-get update -qq </dev/null &&
    apt-get install -y -qq --no-install-recommends $packages </dev/null >/dev/null
  packages=$(wanted)
  [ -z "$packages" ] && exit 0
fi

has_postgresql || echo "PostgreSQL is not here: the tests of the store on PostgreSQL are skipped."
has_keyring || echo "No Secret Service is here: the tests of the system's keyring are skipped."
echo "To run them too: sudo apt-get install$packages"
[ "${CI:-}" = true ] && exit 1
exit 0
