#include "common/keras/model_summary.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "common/keras/weight_paths.h"
#include "common/model/model_tree.h"

namespace paceline {
namespace {

constexpr char kEllipsis[] = "…";

struct Column {
  std::string header;
  // Share of the table's width up to and with this column.
  double end = 0;
  // What borders and blanks take of it, as rich, which Keras draws with, shares
  // them out.
  int margin = 3;
  bool is_right_aligned = false;
  // Of the text; set from the table's width.
  int width = 0;
};

using Row = std::vector<std::string>;

// "2,270,794".
std::string WithCommas(int64_t number) {
  const std::string digits = absl::StrCat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// "8.66 MB".
std::string ReadableSize(int64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"B",  "KB", "MB",
                                                        "GB", "TB", "PB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return absl::StrFormat("%.2f %s", size, kUnits[unit]);
}

// Characters of UTF-8.
size_t WidthOf(absl::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (c & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

// Breaks a text between words; cuts words that are wider than a line.
std::vector<std::string> Wrap(absl::string_view text, size_t width) {
  std::vector<std::string> lines = {""};
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    std::string& line = lines.back();
    const size_t gap = line.empty() ? 0 : 1;
    if (gap != 0 && WidthOf(line) + gap + WidthOf(word) > width) {
      lines.emplace_back(word);
    } else {
      absl::StrAppend(&line, gap == 0 ? "" : " ", word);
    }
  }
  for (std::string& line : lines) {
    if (WidthOf(line) <= width) continue;
    while (WidthOf(line) > width - 1) line.pop_back();
    line += kEllipsis;
  }
  return lines;
}

// The marks of a horizontal line: at the left, in between, at the right.
struct Rule {
  const char* left;
  const char* dash;
  const char* cross;
  const char* right;
};

class Table {
 public:
  Table(std::vector<Column> columns, int width) : columns_(std::move(columns)) {
    int begin = 0;
    for (Column& column : columns_) {
      const int end = static_cast<int>(column.end * width);
      column.width = end - begin - column.margin;
      begin = end;
    }
  }

  std::string Draw(absl::Span<const Row> rows) const {
    std::string text;
    DrawRule({"┏", "━", "┳", "┓"}, text);
    Row header;
    for (const Column& column : columns_) header.push_back(column.header);
    DrawRow(header, "┃", text);
    DrawRule({"┡", "━", "╇", "┩"}, text);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) DrawRule({"├", "─", "┼", "┤"}, text);
      DrawRow(rows[i], "│", text);
    }
    DrawRule({"└", "─", "┴", "┘"}, text);
    return text;
  }

 private:
  void DrawRule(const Rule& rule, std::string& text) const {
    const char* separator = rule.left;
    for (const Column& column : columns_) {
      text += separator;
      for (int i = 0; i < column.width + 2; ++i) text += rule.dash;
      separator = rule.cross;
    }
    absl::StrAppend(&text, rule.right, "\n");
  }

  void DrawRow(const Row& row, absl::string_view border,
               std::string& text) const {
    std::vector<std::vector<std::string>> cells;
    size_t height = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      cells.push_back(Wrap(row[i], columns_[i].width));
      height = std::max(height, cells.back().size());
    }
    for (size_t line = 0; line < height; ++line) {
      for (size_t i = 0; i < cells.size(); ++i) {
        const std::string cell =
            line < cells[i].size() ? cells[i][line] : std::string();
        const std::string blanks(columns_[i].width - WidthOf(cell), ' ');
        const bool is_right = columns_[i].is_right_aligned;
        absl::StrAppend(&text, border, " ", is_right ? blanks : "", cell,
                        is_right ? "" : blanks, " ");
      }
      absl::StrAppend(&text, border, "\n");
    }
  }

  std::vector<Column> columns_;
};

std::string ShapeWithBatch(const Shape& shape) {
  return absl::StrCat("(None", shape.empty() ? "" : ", ",
                      absl::StrJoin(shape, ", "), ")");
}

// The shapes of the outputs of a layer; in brackets if there are several.
std::string OutputShapes(const Graph& graph, absl::Span<const int> nodes) {
  std::vector<std::string> shapes;
  for (const int node : nodes) {
    shapes.push_back(ShapeWithBatch(graph.nodes[node].output_shape));
  }
  if (shapes.size() == 1) return shapes[0];
  return absl::StrCat("[", absl::StrJoin(shapes, ", "), "]");
}

// The calls of a layer.
struct CallsOfLayer {
  // What they read: "conv2d[0][0]", output 0 of call 0 of that layer.
  std::vector<std::string> read;
  // The nodes of the outputs of the last one.
  std::vector<int> last_nodes;
};

// By child of the model; further calls have none of their own.
std::vector<CallsOfLayer> CallsOf(const ModelTree& model) {
  std::vector<CallsOfLayer> calls(model.children.size());
  std::vector<int> call_counts(model.children.size());
  std::vector<std::string> names;
  for (size_t i = 0; i < model.children.size(); ++i) {
    const ModelTree::Child& child = model.children[i];
    const size_t layer = child.callee < 0 ? i : child.callee;
    names.push_back(absl::StrCat(model.children[layer].name, "[",
                                 call_counts[layer]++, "]"));
    for (const auto& [input, output] : child.inputs) {
      calls[layer].read.push_back(absl::StrCat(names[input], "[", output, "]"));
    }
    calls[layer].last_nodes = child.nodes;
  }
  return calls;
}

// Whether each layer reads the one before it, and is called once.
bool IsChain(const ModelTree& model, absl::Span<const int> order) {
  if (order.size() < model.children.size()) return false;
  for (size_t i = 0; i < order.size(); ++i) {
    const std::vector<ModelTree::Source>& inputs =
        model.children[order[i]].inputs;
    if (inputs.size() > 1) return false;
    if (i > 0 && (inputs.empty() || inputs[0].child != order[i - 1])) {
      return false;
    }
  }
  return true;
}

ParameterCount CountOf(const Graph& graph, absl::Span<const int> variables) {
  ParameterCount count;
  for (const int variable : variables) {
    count.elements += NumElements(graph.variables[variable].shape);
  }
  count.bytes = count.elements * static_cast<int64_t>(sizeof(float));
  return count;
}

// The variables of a layer, or of all layers of a model.
std::vector<int> VariablesOf(const ModelTree::Child& child) {
  std::vector<int> variables = child.variables;
  if (child.model != nullptr) {
    for (const ModelTree::Child& each : child.model->children) {
      if (each.callee >= 0) continue;
      const std::vector<int> inner = VariablesOf(each);
      variables.insert(variables.end(), inner.begin(), inner.end());
    }
  }
  return variables;
}

std::string Total(absl::string_view what, const ParameterCount& count) {
  return absl::StrCat(" ", what, " params: ", WithCommas(count.elements), " (",
                      ReadableSize(count.bytes), ")\n");
}

std::string Totals(const Graph& graph,
                   const std::optional<ParameterCount>& optimizer) {
  std::vector<int> trained;
  std::vector<int> others;
  for (size_t i = 0; i < graph.variables.size(); ++i) {
    const bool is_trained = graph.variables[i].is_trained();
    (is_trained ? trained : others).push_back(static_cast<int>(i));
  }
  const ParameterCount a = CountOf(graph, trained);
  const ParameterCount b = CountOf(graph, others);
  const ParameterCount c = optimizer.value_or(ParameterCount());
  std::string text = Total("Total", {a.elements + b.elements + c.elements,
                                     a.bytes + b.bytes + c.bytes});
  absl::StrAppend(&text, Total("Trainable", a), Total("Non-trainable", b));
  if (optimizer) absl::StrAppend(&text, Total("Optimizer", c));
  return text;
}

}  // namespace

std::string SummarizeModel(const Graph& graph, const SummaryOptions& options) {
  const ModelTree& model = graph.tree;
  const std::vector<int> order = KerasLayerOrder(model);
  const bool is_chain = model.is_sequential || IsChain(model, order);
  const std::vector<CallsOfLayer> calls = CallsOf(model);
  std::vector<Row> rows;
  for (const int index : order) {
    const ModelTree::Child& child = model.children[index];
    rows.push_back({absl::StrCat(child.name, " (", child.class_name(), ")"),
                    OutputShapes(graph, calls[index].last_nodes),
                    WithCommas(CountOf(graph, VariablesOf(child)).elements)});
    if (is_chain) continue;
    const std::vector<std::string>& read = calls[index].read;
    rows.back().push_back(read.empty() ? "-" : absl::StrJoin(read, ", "));
  }
  std::vector<Column> columns;
  if (is_chain) {
    columns = {{"Layer (type)", 0.45},
               {"Output Shape", 0.8, 4},
               {"Param #", 1.0, 3, /*is_right_aligned=*/true}};
  } else {
    columns = {{"Layer (type)", 0.3},
               {"Output Shape", 0.56},
               {"Param #", 0.74, 4, /*is_right_aligned=*/true},
               {"Connected to", 1.0}};
  }
  const int width = std::clamp(options.columns - 4, 46, is_chain ? 88 : 108);
  return absl::StrCat("Model: \"", model.name, "\"\n",
                      Table(std::move(columns), width).Draw(rows),
                      Totals(graph, options.optimizer));
}

}  // namespace paceline
