#include "worker/inspection/data_report_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/peer_text.h"

namespace paceline {
namespace {

using nlohmann::ordered_json;

constexpr int kBarColumns = 40;
// More classes are summed up.
constexpr size_t kShownClasses = 30;

// "  #####      12.5%", for `count` of `total`. The longest bar is of `most`.
std::string Bar(int64_t count, int64_t most, int64_t total) {
  const auto share = [count](int64_t whole) {
    return static_cast<double>(count) /
           static_cast<double>(std::max<int64_t>(whole, 1));
  };
  // What is there is seen.
  const auto length = std::max<int64_t>(
      static_cast<int64_t>(share(most) * kBarColumns), count > 0 ? 1 : 0);
  return absl::StrFormat("%-*s %5.1f%%", kBarColumns, std::string(length, '#'),
                         share(total) * 100);
}

void AddHistogram(const ValueHistogram& values, std::string& text) {
  const bool are_equal = values.min() == values.max();
  if (values.count() == 0) {
    absl::StrAppend(&text, "    no finite value");
  } else if (are_equal) {
    absl::StrAppendFormat(&text, "    all values are %.7g", values.min());
  } else {
    absl::StrAppendFormat(&text, "    min %.7g, max %.7g, mean %.6g",
                          values.min(), values.max(), values.mean());
  }
  if (values.not_finite() > 0) {
    absl::StrAppendFormat(&text, "; %d values are infinite or NaN",
                          values.not_finite());
  }
  text += '\n';
  if (are_equal) return;
  const std::vector<ValueHistogram::Bin> bins = values.Bins();
  int64_t most = 0;
  for (const ValueHistogram::Bin& bin : bins) most = std::max(most, bin.count);
  for (const ValueHistogram::Bin& bin : bins) {
    absl::StrAppendFormat(&text, "    %28s %s\n",
                          absl::StrFormat("[%.9g, %.9g)", bin.begin, bin.end),
                          Bar(bin.count, most, values.count()));
  }
}

void AddClasses(const SetReport& set, const ArrayReport& label,
                std::string& text) {
  absl::StrAppendFormat(&text, "    %d classes, ", label.classes.size());
  if (label.class_examples == set.examples) {
    text += "of all examples\n";
  } else {
    absl::StrAppendFormat(&text, "of the first %d examples\n",
                          label.class_examples);
  }
  int64_t most = 0;
  for (const ClassReport& each : label.classes) {
    most = std::max(most, each.examples);
  }
  const size_t shown = std::min(kShownClasses, label.classes.size());
  for (size_t id = 0; id < shown; ++id) {
    const ClassReport& each = label.classes[id];
    absl::StrAppendFormat(&text, "    %3d %-12s %8d %s\n", id,
                          PeerText(each.name), each.examples,
                          Bar(each.examples, most, label.class_examples));
  }
  if (shown == label.classes.size()) return;
  const auto [least, largest] = std::minmax_element(
      label.classes.begin() + static_cast<ptrdiff_t>(shown),
      label.classes.end(), [](const ClassReport& a, const ClassReport& b) {
        return a.examples < b.examples;
      });
  absl::StrAppendFormat(
      &text, "    ... and %d more classes, of %d to %d examples each\n",
      label.classes.size() - shown, least->examples, largest->examples);
}

void AddArray(const char* kind, const ArrayReport& array, std::string& text) {
  absl::StrAppendFormat(
      &text, "  %s %s: %s %s, read as %s %s from %s\n", kind,
      PeerText(array.name), DataTypeName(array.type),
      ShapeToString(array.shape), ElementTypeName(array.stored_type),
      ShapeToString(array.stored_shape), PeerText(array.origin));
}

double PassesPerEpoch(const SetReport& set) {
  return static_cast<double>(set.examples_per_epoch) /
         static_cast<double>(set.examples_per_pass);
}

std::string SetText(const SetReport& set) {
  std::string text =
      absl::StrFormat("%s: %d examples; epochs of %d steps of %d", set.name,
                      set.examples, set.steps_per_epoch, set.step_size);
  if (set.examples_per_epoch != set.examples_per_pass) {
    absl::StrAppendFormat(&text, ", %.4g passes", PassesPerEpoch(set));
  }
  absl::StrAppendFormat(
      &text, "\n  values of the first %d examples of the first epoch:\n",
      set.counted);
  if (set.skipped > 0) {
    absl::StrAppendFormat(
        &text, "  %d %s could not be read (on_error: skip), %s\n", set.skipped,
        set.skipped == 1 ? "example" : "examples",
        set.skipped == 1 ? "another stood in for it"
                         : "others stood in for them");
  }
  for (const ArrayReport& input : set.inputs) {
    AddArray("input", input, text);
    AddHistogram(input.values, text);
  }
  for (const ArrayReport& label : set.labels) {
    AddArray("label", label, text);
    if (label.classes.empty()) {
      AddHistogram(label.values, text);
    } else {
      AddClasses(set, label, text);
    }
  }
  for (const ArrayReport& weight : set.weights) {
    AddArray("sample weight for", weight, text);
    AddHistogram(weight.values, text);
  }
  return text;
}

ordered_json HistogramJson(const ValueHistogram& values) {
  ordered_json json = {{"count", values.count()},
                       {"not_finite", values.not_finite()}};
  if (values.count() > 0) {
    json["min"] = values.min();
    json["max"] = values.max();
    json["mean"] = values.mean();
  }
  ordered_json& bins = json["histogram"] = ordered_json::array();
  for (const ValueHistogram::Bin& bin : values.Bins()) {
    bins.push_back(
        {{"begin", bin.begin}, {"end", bin.end}, {"count", bin.count}});
  }
  return json;
}

ordered_json ArrayJson(const ArrayReport& array) {
  ordered_json json = {{"name", array.name},
                       {"type", DataTypeName(array.type)},
                       {"shape", array.shape},
                       {"stored",
                        {{"origin", array.origin},
                         {"type", ElementTypeName(array.stored_type)},
                         {"shape", array.stored_shape}}}};
  if (array.classes.empty()) {
    json["values"] = HistogramJson(array.values);
    return json;
  }
  json["class_examples"] = array.class_examples;
  ordered_json& classes = json["classes"] = ordered_json::array();
  for (const ClassReport& each : array.classes) {
    ordered_json one = {{"id", classes.size()}};
    if (!each.name.empty()) one["name"] = each.name;
    one["examples"] = each.examples;
    classes.push_back(std::move(one));
  }
  return json;
}

ordered_json SetJson(const SetReport& set) {
  ordered_json json = {{"name", set.name},
                       {"examples", set.examples},
                       {"step_size", set.step_size},
                       {"steps_per_epoch", set.steps_per_epoch},
                       {"passes_per_epoch", PassesPerEpoch(set)},
                       {"counted_examples", set.counted},
                       {"skipped_examples", set.skipped},
                       {"inputs", ordered_json::array()},
                       {"labels", ordered_json::array()},
                       {"sample_weights", ordered_json::array()}};
  for (const ArrayReport& input : set.inputs) {
    json["inputs"].push_back(ArrayJson(input));
  }
  for (const ArrayReport& label : set.labels) {
    json["labels"].push_back(ArrayJson(label));
  }
  for (const ArrayReport& weight : set.weights) {
    json["sample_weights"].push_back(ArrayJson(weight));
  }
  return json;
}

}  // namespace

std::string DataReportText(const DataReport& report) {
  std::string text;
  for (const SetReport& set : report.sets) {
    if (!text.empty()) text += '\n';
    text += SetText(set);
  }
  if (report.sheet) {
    const SetReport& train = report.sets.front();
    absl::StrAppendFormat(
        &text,
        "\nfirst batch of data.train: %d of %d images for %s; %g is black, %g "
        "white\n",
        report.sheet->size(),
        std::min(train.step_size, train.examples_per_epoch),
        PeerText(report.sheet_input), report.sheet->black(),
        report.sheet->white());
  }
  return text;
}

ordered_json DataReportJson(const DataReport& report) {
  ordered_json json = {{"job", report.job}, {"sets", ordered_json::array()}};
  for (const SetReport& set : report.sets) json["sets"].push_back(SetJson(set));
  if (report.sheet) {
    json["first_batch"] = {{"input", report.sheet_input},
                           {"images", report.sheet->size()},
                           {"black", report.sheet->black()},
                           {"white", report.sheet->white()}};
  }
  return json;
}

}  // namespace paceline
