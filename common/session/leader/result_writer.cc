#include "common/session/leader/result_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

// JSON that keeps the order in which keys are added.
using Json = nlohmann::ordered_json;

Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

const char* StateName(const absl::Status& status) {
  if (status.ok()) return "SUCCEEDED";
  return absl::IsCancelled(status) ? "STOPPED" : "FAILED";
}

Json ErrorToJson(const absl::Status& status,
                 const std::optional<TaskId>& blamed) {
  if (status.ok()) return nullptr;
  Json error;
  error["code"] = absl::StatusCodeToString(status.code());
  error["message"] = std::string(status.message());
  error["task"] = blamed ? Json(blamed->ToString()) : Json(nullptr);
  return error;
}

Json RecordToJson(const EpochRecord& record) {
  Json epoch;
  epoch["epoch"] = record.epoch;
  for (const auto& [name, value] : record.logs) epoch[name] = Number(value);
  for (const auto& [name, value] : record.validation_logs) {
    epoch[name] = Number(value);
  }
  epoch["learning_rate"] = Number(record.learning_rate);
  epoch["steps"] = record.steps;
  epoch["examples"] = record.examples;
  epoch["skipped_examples"] = record.skipped_examples;
  epoch["skipped_validation_examples"] = record.skipped_validation_examples;
  epoch["seconds"] = Number(record.seconds);
  return epoch;
}

Json LossToJson(const std::optional<NonfiniteLoss>& loss) {
  if (!loss) return nullptr;
  Json json;
  json["task"] = loss->worker.ToString();
  json["epoch"] = loss->epoch;
  json["step"] = loss->step;
  json["value"] = std::string(NonfiniteName(loss->value));
  return json;
}

Json TaskToJson(const TaskResult& task) {
  Json json;
  json["type"] = TaskTypeName(task.id.type);
  json["index"] = task.id.index;
  json["address"] = task.address;
  json["peak_rss_bytes"] = task.peak_rss_bytes;
  json["exit_code"] = task.exit_code ? Json(*task.exit_code) : Json(nullptr);
  return json;
}

// The shortest decimal text that parses to the same number.
std::string ShortestText(double value) {
  if (std::isnan(value)) return "nan";
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

// The values of a row except the epoch, by column name.
std::map<std::string, std::string> Columns(const EpochRecord& record) {
  std::map<std::string, std::string> columns;
  for (const Logs* logs : {&record.logs, &record.validation_logs}) {
    for (const auto& [name, value] : *logs) {
      columns[name] = ShortestText(value);
    }
  }
  columns["learning_rate"] = ShortestText(record.learning_rate);
  columns["steps"] = absl::StrCat(record.steps);
  columns["examples"] = absl::StrCat(record.examples);
  columns["seconds"] = ShortestText(record.seconds);
  return columns;
}

// The rows of the text of a steps.csv from step 1 to `last`.
std::string RowsUpTo(int64_t last, absl::string_view csv) {
  std::string rows;
  for (const absl::string_view line : absl::StrSplit(csv, "\r\n")) {
    int64_t step = 0;
    // The header and a truncated row do not start with a number and a comma.
    const size_t comma = line.find(',');
    if (comma != absl::string_view::npos &&
        absl::SimpleAtoi(line.substr(0, comma), &step) && step >= 1 &&
        step <= last) {
      absl::StrAppend(&rows, line, "\r\n");
    }
  }
  return rows;
}

}  // namespace

double MedianExamplesPerSecond(absl::Span<const EpochRecord> history) {
  std::vector<double> rates;
  for (const EpochRecord& record : history) {
    if (record.seconds > 0) {
      rates.push_back(static_cast<double>(record.examples) / record.seconds);
    }
  }
  if (rates.empty()) return 0;
  if (rates.size() > 1) rates.erase(rates.begin());
  std::sort(rates.begin(), rates.end());
  const size_t middle = rates.size() / 2;
  return rates.size() % 2 == 1 ? rates[middle]
                               : (rates[middle - 1] + rates[middle]) / 2;
}

std::string ResultJson(const JobResult& result) {
  Json json;
  json["name"] = result.name;
  if (!result.phase.empty()) json["phase"] = result.phase;
  json["strategy"] = result.strategy;
  json["state"] = StateName(result.status);
  json["error"] = ErrorToJson(result.status, result.blamed);
  json["nonfinite_loss"] = LossToJson(result.nonfinite_loss);
  json["history"] = Json::array();
  for (const EpochRecord& record : result.history) {
    json["history"].push_back(RecordToJson(record));
  }
  json["evaluation"] = nullptr;
  for (const auto& [name, value] : result.evaluation) {
    json["evaluation"][name] = Number(value);
  }
  Json& lost = json["lost_checkpoints"];
  lost["count"] = result.lost_checkpoints.count;
  lost["error"] = result.lost_checkpoints.count > 0
                      ? Json(result.lost_checkpoints.error)
                      : Json(nullptr);
  Json& timing = json["timing"];
  timing["first_step_seconds"] = result.first_step_seconds > 0
                                     ? Number(result.first_step_seconds)
                                     : Json(nullptr);
  timing["total_seconds"] = Number(result.total_seconds);
  timing["examples_per_second"] = MedianExamplesPerSecond(result.history);
  json["tasks"] = Json::array();
  for (const TaskResult& task : result.tasks) {
    json["tasks"].push_back(TaskToJson(task));
  }
  // File names may not be UTF-8; they must not make the dump fail.
  return absl::StrCat(json.dump(2, ' ', false, Json::error_handler_t::replace),
                      "\n");
}

std::string HistoryCsv(absl::Span<const EpochRecord> history) {
  std::map<std::string, std::string> names;
  for (const EpochRecord& record : history) names.merge(Columns(record));
  std::string text = "epoch";
  for (const auto& [name, value] : names) absl::StrAppend(&text, ",", name);
  absl::StrAppend(&text, "\r\n");
  for (const EpochRecord& record : history) {
    absl::StrAppend(&text, record.epoch);
    std::map<std::string, std::string> columns = Columns(record);
    for (const auto& [name, value] : names) {
      const auto it = columns.find(name);
      absl::StrAppend(&text, ",", it == columns.end() ? "NA" : it->second);
    }
    absl::StrAppend(&text, "\r\n");
  }
  return text;
}

std::string StepsCsv(absl::Span<const StepRow> rows, int64_t resumed_step,
                     absl::string_view earlier) {
  if (!rows.empty()) {
    resumed_step = std::min(resumed_step, rows.front().step - 1);
  }
  std::string text =
      absl::StrCat("step,loss\r\n", RowsUpTo(resumed_step, earlier));
  for (const StepRow& row : rows) {
    absl::StrAppend(&text, row.step, ",", ShortestText(row.total / row.weight),
                    "\r\n");
  }
  return text;
}

absl::Status WriteResult(const std::string& output_dir,
                         const JobResult& result) {
  return WriteFileAtomically(absl::StrCat(output_dir, "/result.json"),
                             ResultJson(result));
}

absl::Status WriteHistory(const std::string& output_dir,
                          absl::Span<const EpochRecord> history) {
  return WriteFileAtomically(absl::StrCat(output_dir, "/history.csv"),
                             HistoryCsv(history));
}

absl::Status WriteSteps(const std::string& output_dir,
                        absl::Span<const StepRow> rows, int64_t resumed_step) {
  const std::string path = absl::StrCat(output_dir, "/steps.csv");
  absl::StatusOr<std::string> earlier = std::string();
  if (resumed_step > 0) {
    earlier = ReadFile(path, limits::kMaxStepsFileBytes);
    if (absl::IsNotFound(earlier.status())) earlier = std::string();
  }
  RETURN_IF_ERROR(earlier.status());
  return WriteFileAtomically(path, StepsCsv(rows, resumed_step, *earlier));
}

}  // namespace paceline
