"""Exports asset metadata with mapped workers. For Airflow 3, or 2 with apache-airflow-providers-standard."""

from datetime import datetime, timedelta, timezone

try:
    from airflow.sdk import DAG
except ImportError:  # Airflow 2
    from airflow import DAG
from airflow.exceptions import AirflowException, AirflowFailException
from airflow.providers.standard.operators.bash import BashOperator

WORKERS = 8

# The DAG run names the export, so that a retry or a cleared task resumes the export of its own day.
NIGHT = "s3://bucket/nights/{{ ds }}"
# job.yaml of this folder: it holds the daily budget and the database, which all workers share. PGPASSFILE of the
# workers holds the password.
JOB = f"/srv/assets/job.yaml --out {NIGHT}"


class AssetExport(BashOperator):
    """Does not try again after exit code 10 (more calls than planned): each attempt may cost the whole overrun."""

    def execute(self, context):
        try:
            return super().execute(context)
        except AirflowException as error:
            if str(error).endswith(" exit code 10."):
                raise AirflowFailException(str(error)) from error
            raise


with DAG(
    dag_id="asset_export_fleet",
    schedule="5 0 * * *",
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    max_active_runs=1,
    # 5: service unavailable. A retry resumes and pays for nothing twice.
    default_args={"retries": 3, "retry_delay": timedelta(minutes=15), "retry_exponential_backoff": True},
) as dag:
    enqueue = BashOperator(task_id="enqueue", bash_command=f"asset-export enqueue {JOB}")
    work = AssetExport.partial(
        task_id="work",
        # 8: the day's credits are spent. Clear the tasks later to resume.
        skip_on_exit_code=[8],
    ).expand(bash_command=[f"asset-export work {JOB} --shard {n}/{WORKERS}" for n in range(WORKERS)])
    # Also when workers failed: makes their slices. It ends with 0 when the export is complete.
    finish = AssetExport(
        task_id="finish",
        bash_command=f"asset-export work {JOB}",
        skip_on_exit_code=[8],
        trigger_rule="all_done",
    )
    verify = BashOperator(task_id="verify", bash_command=f"asset-export verify {NIGHT}")
    load = BashOperator(
        task_id="load",
        bash_command="asset-export load s3://bucket/nights --to postgres://exporter@db.internal/warehouse",
    )
    prune = BashOperator(
        task_id="prune",
        bash_command="asset-export prune s3://bucket/nights --keep-daily 7 --keep-weekly 4 --keep-monthly 12 --yes",
    )
    enqueue >> work >> finish >> verify >> load >> prune
