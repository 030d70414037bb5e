#!/bin/sh
# A whole night on the machine that leads: enqueue, work beside the other workers until all slices are done, then verify, load and prune.
# usage: night.sh 2026-01-31 [flags of work], in the folder of job.yaml
# After a failure run it again: no answer is paid for twice. It ends with the exit code of the first step that fails.
set -eu
NIGHT=s3://bucket/nights/$1
shift

asset-export enqueue job.yaml --out "$NIGHT"
asset-export work job.yaml --out "$NIGHT" "$@"
asset-export verify "$NIGHT"
asset-export load s3://bucket/nights --to postgres://exporter@db.internal/warehouse
asset-export prune s3://bucket/nights --keep-daily 7 --keep-weekly 4 --keep-monthly 12 --yes
