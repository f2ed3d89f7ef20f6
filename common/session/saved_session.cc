#include "common/session/saved_session.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;

json NumberToJson(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

double NumberFromJson(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                         : value.get<double>();
}

json NumbersToJson(const std::vector<double>& values) {
  json array = json::array();
  for (const double value : values) array.push_back(NumberToJson(value));
  return array;
}

std::vector<double> NumbersFromJson(const json& array) {
  std::vector<double> values;
  for (const json& value : array) values.push_back(NumberFromJson(value));
  return values;
}

// An array of pairs: logs have an order.
json LogsToJson(const Logs& logs) {
  json array = json::array();
  for (const auto& [name, value] : logs) {
    array.push_back(json::array({name, NumberToJson(value)}));
  }
  return array;
}

Logs LogsFromJson(const json& array) {
  Logs logs;
  for (const json& entry : array) {
    logs.emplace_back(entry.at(0).get<std::string>(),
                      NumberFromJson(entry.at(1)));
  }
  return logs;
}

json RecordToJson(const EpochRecord& record) {
  return {{"epoch", record.epoch},
          {"logs", LogsToJson(record.logs)},
          {"validation_logs", LogsToJson(record.validation_logs)},
          {"learning_rate", NumberToJson(record.learning_rate)},
          {"steps", record.steps},
          {"examples", record.examples},
          {"seconds", record.seconds}};
}

EpochRecord RecordFromJson(const json& value) {
  EpochRecord record;
  record.epoch = value.at("epoch").get<int>();
  record.logs = LogsFromJson(value.at("logs"));
  record.validation_logs = LogsFromJson(value.at("validation_logs"));
  record.learning_rate = NumberFromJson(value.at("learning_rate"));
  record.steps = value.at("steps").get<int64_t>();
  record.examples = value.at("examples").get<int64_t>();
  record.seconds = value.at("seconds").get<double>();
  return record;
}

SavedSession Parse(const json& value) {
  SavedSession saved;
  saved.epoch = value.at("epoch").get<int>();
  saved.steps = value.at("steps").get<int64_t>();
  saved.next_lease_id = value.at("next_lease_id").get<uint64_t>();
  saved.epoch_examples = value.at("epoch_examples").get<int64_t>();
  for (const json& range : value.at("remaining")) {
    saved.remaining.push_back(
        {range.at(0).get<int64_t>(), range.at(1).get<int64_t>()});
  }
  const json& counted = value.at("counted");
  saved.counted.examples = counted.at("examples").get<int64_t>();
  saved.counted.steps = counted.at("steps").get<int64_t>();
  saved.counted.totals = NumbersFromJson(counted.at("totals"));
  saved.counted.counts = NumbersFromJson(counted.at("counts"));
  saved.seconds = value.at("seconds").get<double>();
  for (const json& record : value.at("history")) {
    saved.history.push_back(RecordFromJson(record));
  }
  return saved;
}

// Whether the ranges lie in the epoch, in order, and are what is not counted.
bool RangesFit(const SavedSession& saved) {
  int64_t examples = saved.counted.examples;
  int64_t last = 0;
  for (const ExampleRange& range : saved.remaining) {
    if (range.begin < last || range.end <= range.begin) return false;
    last = range.end;
    examples += range.end - range.begin;
  }
  return last <= saved.epoch_examples && examples == saved.epoch_examples;
}

}  // namespace

json ToJson(const SavedSession& saved) {
  json remaining = json::array();
  for (const ExampleRange& range : saved.remaining) {
    remaining.push_back(json::array({range.begin, range.end}));
  }
  json history = json::array();
  for (const EpochRecord& record : saved.history) {
    history.push_back(RecordToJson(record));
  }
  return {{"epoch", saved.epoch},
          {"steps", saved.steps},
          {"next_lease_id", saved.next_lease_id},
          {"epoch_examples", saved.epoch_examples},
          {"remaining", remaining},
          {"counted",
           {{"examples", saved.counted.examples},
            {"steps", saved.counted.steps},
            {"totals", NumbersToJson(saved.counted.totals)},
            {"counts", NumbersToJson(saved.counted.counts)}}},
          {"seconds", saved.seconds},
          {"history", history}};
}

absl::StatusOr<SavedSession> SavedSessionFromJson(const json& value) {
  SavedSession saved;
  try {
    saved = Parse(value);
  } catch (const json::exception& error) {
    return absl::DataLossError(
        absl::StrCat("the checkpoint's session is damaged: ", error.what()));
  }
  if (!RangesFit(saved)) {
    return absl::DataLossError(
        "the checkpoint's session is damaged: remaining and counted examples "
        "do not add up to epoch_examples");
  }
  return saved;
}

}  // namespace paceline
