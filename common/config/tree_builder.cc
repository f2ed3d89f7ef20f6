#include "common/config/tree_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

void Include(const Weight& inner, Weight& outer) {
  outer.value_count += inner.value_count;
  outer.text_bytes += inner.text_bytes;
  outer.depth = std::max(outer.depth, inner.depth + 1);
}

}  // namespace

Weight Weigh(const Value& value) {
  Weight weight{.value_count = 1};
  if (value.is_string()) {
    weight.text_bytes = static_cast<int64_t>(value.as_string().size());
  } else if (value.is_list()) {
    weight.depth = 1;
    for (const Value& element : value.as_list()) {
      Include(Weigh(element), weight);
    }
  } else if (value.is_map()) {
    weight.depth = 1;
    for (const Value::Entry& entry : value.as_map()) {
      weight.text_bytes += static_cast<int64_t>(entry.key.size());
      Include(Weigh(entry.value), weight);
    }
  }
  return weight;
}

bool TreeBuilder::wants_key() const {
  return !open_.empty() && open_.back().value.is_map() && !open_.back().has_key;
}

absl::Status TreeBuilder::Key(std::string key, int line) {
  CHECK(wants_key());
  RETURN_IF_ERROR(Charge({.text_bytes = static_cast<int64_t>(key.size())}));
  Open& map = open_.back();
  const auto [first, is_new] = map.keys.emplace(key, line);
  if (!is_new) {
    return absl::InvalidArgumentError(absl::StrCat(
        "repeated key ", Excerpt(key),
        first->second > 0
            ? absl::StrCat("; it is already on line ", first->second)
            : ""));
  }
  map.key = std::move(key);
  map.key_line = line;
  map.has_key = true;
  return absl::OkStatus();
}

absl::Status TreeBuilder::Add(Value value, const Weight& weight, int line) {
  RETURN_IF_ERROR(Charge(weight));
  value.set_line(line);
  Place(std::move(value));
  return absl::OkStatus();
}

absl::Status TreeBuilder::Leaf(Value value, int line) {
  const Weight weight = Weigh(value);
  return Add(std::move(value), weight, line);
}

absl::Status TreeBuilder::Begin(Value container, int line) {
  RETURN_IF_ERROR(Charge({.value_count = 1, .depth = 1}));
  container.set_line(line);
  open_.emplace_back().value = std::move(container);
  return absl::OkStatus();
}

const Value& TreeBuilder::End() {
  CHECK(!open_.empty());
  Value value = std::move(open_.back().value);
  open_.pop_back();
  return Place(std::move(value));
}

const Value& TreeBuilder::Place(Value value) {
  if (open_.empty()) return root_ = std::move(value);
  Open& parent = open_.back();
  if (parent.value.is_list()) {
    return parent.value.as_list().emplace_back(std::move(value));
  }
  CHECK(parent.has_key);
  parent.has_key = false;
  return parent.value.as_map()
      .emplace_back(Value::Entry{std::move(parent.key), std::move(value),
                                 parent.key_line})
      .value;
}

absl::Status TreeBuilder::Charge(const Weight& weight) {
  total_.value_count += weight.value_count;
  total_.text_bytes += weight.text_bytes;
  if (static_cast<int>(open_.size()) + weight.depth > limits::kMaxNesting) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "lists and maps nest deeper than ", limits::kMaxNesting, " levels"));
  }
  if (total_.value_count > limits::kMaxValues) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", limits::kMaxValues,
                     " values, those of expanded aliases included"));
  }
  if (total_.text_bytes > max_text_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", max_text_bytes_,
                     " bytes of text, that of expanded aliases included"));
  }
  return absl::OkStatus();
}

}  // namespace paceline
