"""Exports asset metadata every night and loads it. For Airflow 3, or 2 with apache-airflow-providers-standard."""

from datetime import datetime, timedelta, timezone

try:
    from airflow.sdk import DAG
except ImportError:  # Airflow 2
    from airflow import DAG
from airflow.exceptions import AirflowException, AirflowFailException
from airflow.providers.standard.operators.bash import BashOperator

# The DAG run names the folder, so that a retry or a cleared task resumes the export of its own day.
OUT = "/srv/assets/out/{{ ds }}"

# The credit ledger. It must be on a volume that all workers share: an empty folder is a fresh daily budget.
ENVIRONMENT = {"ASSET_EXPORT_STATE": "/var/lib/asset-export"}


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
    dag_id="asset_export",
    schedule="5 0 * * *",
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    max_active_runs=1,
    default_args={"env": ENVIRONMENT, "append_env": True},
) as dag:
    export = AssetExport(
        task_id="export",
        bash_command=f"asset-export run /srv/assets/job.yaml --out {OUT} --when-spent stop --json",
        # 8: the day's credits are spent, 11: another run holds this export. Clear the task later to resume.
        skip_on_exit_code=[8, 11],
        # 5: service unavailable. A retry resumes and pays for nothing twice; one of a wrong job costs nothing.
        retries=3,
        retry_delay=timedelta(minutes=15),
        retry_exponential_backoff=True,
    )
    verify = BashOperator(task_id="verify", bash_command=f"asset-export verify {OUT}")
    load = BashOperator(
        task_id="load",
        bash_command="asset-export load /srv/assets/out --to duckdb:/srv/assets/warehouse.duckdb",
    )
    prune = BashOperator(
        task_id="prune",
        bash_command="asset-export prune /srv/assets/out --keep-daily 7 --keep-weekly 4 --keep-monthly 12 --yes",
    )
    export >> verify >> load >> prune
