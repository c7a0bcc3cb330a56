#!/bin/sh
# Brings what the tests need beside Python: PostgreSQL's own programs, for the store's tests on it.
# The tests start and stop the server themselves; nothing here leaves a process behind.

found() {
  command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "PostgreSQL is not here: installing Debian's package."
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq </dev/null &&
    apt-get install -y -qq --no-install-recommends postgresql </dev/null >/dev/null
  found && exit 0
fi

echo "PostgreSQL is not here: the tests of the store on PostgreSQL are skipped."
echo "To run them too: sudo apt-get install postgresql, or put its initdb on the PATH."
[ "${CI:-}" = true ] && exit 1
exit 0
