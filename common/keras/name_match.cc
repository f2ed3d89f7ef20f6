#include "common/keras/name_match.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/peer_text.h"

namespace paceline {
namespace {

// Names of a list in a report.
constexpr size_t kReportedNames = 50;

// By the names of a layer's variables in the file.
using WeightsOfLayer = std::map<absl::string_view, const NamedWeight*>;
// By the names of the model's layers.
using WeightsOfLayers = std::map<std::string, WeightsOfLayer, std::less<>>;

// The model's layer that a variable of this name belongs to; end() if there is
// none. A file's names may be very long, so no prefix longer than the longest
// name of a layer is looked for.
WeightsOfLayers::iterator LayerOf(absl::string_view name, size_t longest,
                                  WeightsOfLayers& layers) {
  for (size_t end = name.rfind('/', longest);
       end != absl::string_view::npos && end > 0;
       end = name.rfind('/', end - 1)) {
    const auto found = layers.find(name.substr(0, end));
    if (found != layers.end()) return found;
  }
  return layers.end();
}

// How the file's variables of a layer differ from the model's; "": they do not.
std::string Difference(const std::string& layer,
                       absl::Span<const VariableSpec* const> variables,
                       const WeightsOfLayer& stored) {
  const auto own_name = [&layer](absl::string_view name) {
    return PeerText(name.substr(layer.size() + 1));
  };
  std::vector<std::string> parts;
  std::set<absl::string_view> known;
  for (const VariableSpec* variable : variables) {
    known.insert(variable->name);
    const auto found = stored.find(variable->name);
    if (found == stored.end()) {
      parts.push_back(absl::StrCat(
          own_name(variable->name), " is not in the file, and has shape ",
          ShapeToString(variable->shape), " in the model"));
    } else if (found->second->shape != variable->shape) {
      parts.push_back(
          absl::StrCat(own_name(variable->name), " has shape ",
                       ShapeToString(found->second->shape), " in the file, ",
                       ShapeToString(variable->shape), " in the model"));
    }
  }
  for (const auto& [name, weight] : stored) {
    if (known.contains(name)) continue;
    parts.push_back(absl::StrCat(own_name(name), " has shape ",
                                 ShapeToString(weight->shape),
                                 " in the file, and is not in the model"));
    if (parts.size() > kReportedNames) break;
  }
  return absl::StrJoin(parts, "; ");
}

void AppendList(absl::string_view title, absl::string_view separator,
                const std::vector<std::string>& names, std::string& text) {
  if (names.empty()) return;
  const size_t count = std::min(names.size(), kReportedNames);
  absl::StrAppendFormat(
      &text, "\n  %-17s %s", absl::StrCat(title, ":"),
      absl::StrJoin(names.begin(),
                    names.begin() + static_cast<ptrdiff_t>(count), separator));
  if (names.size() > count) {
    absl::StrAppend(&text, separator, "and ", names.size() - count, " more");
  }
}

}  // namespace

NameMatch MatchByName(const Graph& graph,
                      const std::vector<NamedWeight>& stored) {
  WeightsOfLayers layers;
  size_t longest = 0;
  for (const Node& node : graph.nodes) {
    if (node.variables.empty()) continue;
    layers[node.layer->name];
    longest = std::max(longest, node.layer->name.size());
  }
  std::set<absl::string_view> others;
  for (const NamedWeight& weight : stored) {
    const absl::string_view name = weight.name;
    const auto layer = LayerOf(name, longest, layers);
    if (layer != layers.end()) {
      layer->second.emplace(name, &weight);
    } else {
      others.insert(name.substr(0, name.rfind('/')));
    }
  }
  NameMatch match;
  match.paths.resize(graph.variables.size());
  for (const Node& node : graph.nodes) {
    if (node.variables.empty() || node.call > 0) continue;
    const std::string& layer = node.layer->name;
    const WeightsOfLayer& weights = layers[layer];
    if (weights.empty()) {
      match.not_in_file.push_back(PeerText(layer));
      continue;
    }
    std::vector<const VariableSpec*> variables;
    for (const int each : node.variables) {
      variables.push_back(&graph.variables[each]);
    }
    const std::string difference = Difference(layer, variables, weights);
    if (!difference.empty()) {
      match.different.push_back(
          absl::StrCat(PeerText(layer), ": ", difference));
      continue;
    }
    match.matched.push_back(PeerText(layer));
    for (const int each : node.variables) {
      match.paths[each] = weights.at(graph.variables[each].name)->path;
    }
  }
  for (const absl::string_view each : others) {
    match.not_in_model.push_back(PeerText(each));
  }
  return match;
}

std::string NameMatchReport(const NameMatch& match, const std::string& path) {
  std::string text = absl::StrCat(
      match.matched.size(), " of ",
      match.matched.size() + match.not_in_file.size() + match.different.size(),
      " layers with variables take their values from ", path, " by name");
  AppendList("matched", ", ", match.matched, text);
  AppendList("not in the file", ", ", match.not_in_file, text);
  AppendList("not the same", absl::StrCat("\n", std::string(20, ' ')),
             match.different, text);
  AppendList("not in the model", ", ", match.not_in_model, text);
  return text;
}

}  // namespace paceline
