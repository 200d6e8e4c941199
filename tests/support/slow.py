"""Which tests wait for `-m slow`: load, soak, long fuzzing, and most variants of what starts many processes.

The default run keeps one variant in `SAMPLED[name]` of each, none where that is 0. Both runs together are everything,
and CI makes both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

WHOLE = frozenset(
    {
        "tests/cassettes/test_durability.py",
        "tests/client/test_threads.py",
        "tests/engine/test_accounting_fire.py",
        "tests/evals_tests/test_plugin.py",
        "tests/evals_tests/test_servers.py",
        "tests/protocol/test_fuzz.py",
        "tests/protocol/test_memory.py",
        "tests/protocol/test_official_client.py",
        "tests/protocol/test_stopping.py",
        "tests/protocol_http/test_ending.py",
        "tests/protocol_http/test_hostile.py",
        "tests/protocol_http/test_load.py",
        "tests/protocol_http/test_time.py",
        "tests/scripts/test_mcp_examples.py",
        "tests/transport/test_record_killed.py",
    }
)
SAMPLED = {
    "test_a_broken_environment_is_made_again": 0,
    "test_the_vcr_log_and_the_pytest_report_do_not_show_the_key": 0,
    "test_query_is_fast_over_ten_thousand_recordings": 0,
    "test_one_session_serves_all_users_of_a_process_and_goes_with_the_last": 0,
    "test_threads_record_side_by_side_and_lose_nothing": 0,
    "test_peak_memory_stays_below_the_bar": 0,
    "test_the_curl_recipes_answer": 0,
    "test_time_grows_with_the_length_only": 4,
    "test_a_scene_has_no_problems": 6,
    "test_a_sanitized_cassette_can_still_be_used": 2,
    "test_commands_exist": 8,
    "test_each_schema_is_one_and_complete_in_itself": 4,
    "test_every_product_of_the_sandbox": 4,
    "test_every_product_of_the_sandbox_through_every_view": 4,
    "test_failing_at_every_step_leaves_the_state_before_or_after": 3,
    "test_it_runs_whole_from_recordings_without_a_key_and_the_same_each_time": 8,
    "test_no_answer_is_paid_twice_whatever_kills_the_process": 8,
    "test_no_form_is_left_anywhere": 4,
    "test_no_path_leaves_the_folders": 5,
    "test_nothing_that_is_written_or_printed_holds_the_key": 6,
    "test_the_key_is_in_no_report": 0,
    "test_the_same_bytes_live_recorded_promoted_replayed_and_as_a_fixture": 4,
    "test_the_scan_finds_each_case_before_sanitizing_and_never_shows_it": 2,
    "test_the_worst_case_covers_the_charge": 16,
    "test_views_take_every_field_of_every_type": 4,
    "test_views_take_whatever_keeps_the_contract": 4,
    "test_what_is_found_is_what_the_products_say": 3,
    "test_whatever_the_arguments_the_answer_is_well_formed": 3,
    "test_a_real_body_is_recorded_promoted_verified_and_replayed": 2,
    "test_an_answer_is_the_same_recorded_or_not": 3,
    "test_everything_that_is_listed_answers": 0,
    "test_html_is_one_page_with_its_figures_in_both_looks": 0,
    "test_a_run_keeps_every_figure_and_ends_with_its_verdict": 0,
    "test_a_finder_costs_ten_and_one_for_each_hundred_found": 4,
    "test_reports_are_made_from_artifacts_alone": 0,
    "test_a_plan_runs_whole_with_a_report_and_pages": 0,
    "test_pitfall_12_ctrl_c_among_requests_ends_with_130_too": 0,
    "test_a_client_that_does_not_read_holds_up_no_end": 3,
    "test_a_cancellation_names_a_request_as_the_protocol_reads_it": 4,
    "test_every_progress_token_is_one": 3,
    "test_thousands_of_requests_and_cancellations_leave_nothing_to_wait_for": 0,
    "test_odd_products_never_raise": 0,
    "test_it_agrees_on_whatever_is_written": 0,
    "test_an_unreadable_answer_of_a_person_is_a_no": 3,
    "test_a_program_without_a_stream_ends_quietly": 4,
    "test_tasks_are_told_to_clients_of_the_version_that_has_them": 2,
    "test_thousands_of_sessions_leave_nothing": 0,
    "test_thousands_of_requests_leave_nothing": 0,
    "test_every_price_type_keeps_the_contract_and_its_least_drop": 3,
    "test_sort_types": 3,
    "test_writing_needs_little_more_than_the_body": 4,
}


def mark(items: Iterable[pytest.Item]) -> None:
    """Give the tests of the tables their mark."""
    seen: Counter[str] = Counter()
    for item in items:
        name = getattr(item, "originalname", item.name)
        place = item.nodeid.partition("::")[0]
        every = SAMPLED.get(name)
        number = seen[place + name]
        seen[place + name] += 1
        if place in WHOLE or every == 0 or (every and number % every):
            item.add_marker(pytest.mark.slow)
