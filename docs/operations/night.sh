#!/bin/sh
# The whole night: export, check every file, load, remove old nights. Flags are passed to asset-export run.
# After a failure run it again: no answer is paid for twice. It ends with the exit code of the first step that fails.
set -u

JOB=${JOB:-job.yaml} # with output.latest: true
NIGHTS=${NIGHTS:-out} # its output.dir without {date}
WAREHOUSE=${WAREHOUSE:-duckdb:warehouse.duckdb} # or postgres://user@host/database

# As process 1 of a container, a shell has to pass SIGTERM on and to wait for the answers in flight.
running=
trap 'kill -TERM "$running" 2>/dev/null || exit 143' TERM INT

step() {
  asset-export "$@" &
  running=$!
  wait "$running"
  status=$?
  while kill -0 "$running" 2>/dev/null; do
    wait "$running"
    status=$?
  done
  [ "$status" -eq 0 ] || exit "$status"
}

step run "$JOB" "$@"
step verify "$NIGHTS/latest"
step load "$NIGHTS" --to "$WAREHOUSE"
step prune "$NIGHTS" --keep-daily 7 --keep-weekly 4 --keep-monthly 12 --yes
