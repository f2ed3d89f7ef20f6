#include "common/config/yaml_reader.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/config/tree_builder.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace paceline {
namespace {

// Tags as yaml-cpp reports them: for plain scalars and collections without a
// tag, for quoted scalars without a tag, and for !!str.
constexpr char kPlain[] = "?";
constexpr char kQuoted[] = "!";
constexpr char kStringTag[] = "tag:yaml.org,2002:str";

// yaml-cpp reports errors as exceptions, and our handlers throw this one to
// stop it. ReadYaml catches both.
struct Refusal {
  absl::Status status;
  int line;
};

class YamlHandler : public YAML::EventHandler {
 public:
  explicit YamlHandler(int64_t max_bytes) : builder_(max_bytes) {}

  Value Take() { return builder_.Take(); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(has_document_, true)) {
      Refuse(mark, "a second document; expected one");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (builder_.wants_key()) Refuse(mark, "a key is null; expected text");
    AddLeaf(mark, anchor, nullptr);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& text) override {
    if (tag != kPlain) CheckTag(mark, tag, {kQuoted, kStringTag});
    if (!IsUtf8(text)) Refuse(mark, "text is not UTF-8");
    if (builder_.wants_key()) {
      if (anchor != YAML::NullAnchor) Refuse(mark, "an anchor on a key");
      Check(mark, builder_.Key(text, Line(mark)));
      return;
    }
    AddLeaf(mark, anchor, tag == kPlain ? ResolvePlainScalar(text) : text);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (builder_.wants_key()) Refuse(mark, "a key is an alias; expected text");
    const auto found = anchored_.find(anchor);
    // An alias inside the value that it refers to.
    if (found == anchored_.end()) Refuse(mark, "an alias of an unclosed value");
    Check(mark,
          builder_.Add(found->second.value, found->second.weight, Line(mark)));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    BeginCollection(mark, tag, anchor);
    Check(mark, builder_.BeginList(Line(mark)));
  }
  void OnSequenceEnd() override { EndCollection(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    BeginCollection(mark, tag, anchor);
    Check(mark, builder_.BeginMap(Line(mark)));
  }
  void OnMapEnd() override { EndCollection(); }

 private:
  struct Anchored {
    Value value;
    Weight weight;
  };
  // A list or map that has begun, but not ended.
  struct Open {
    YAML::anchor_t anchor;
    YAML::Mark mark;
  };

  // yaml-cpp counts from 0.
  static int Line(const YAML::Mark& mark) { return mark.line + 1; }

  [[noreturn]] static void Refuse(const YAML::Mark& mark,
                                  absl::string_view message) {
    throw Refusal{absl::InvalidArgumentError(message), Line(mark)};
  }
  static void Check(const YAML::Mark& mark, const absl::Status& status) {
    if (!status.ok()) throw Refusal{status, Line(mark)};
  }
  static void CheckTag(const YAML::Mark& mark, const std::string& tag,
                       std::initializer_list<absl::string_view> allowed) {
    if (std::find(allowed.begin(), allowed.end(), tag) == allowed.end()) {
      Refuse(mark, absl::StrCat("tag ", Excerpt(tag), " is not supported"));
    }
  }

  void AddLeaf(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    value.set_line(Line(mark));
    Keep(mark, anchor, value);
    Check(mark, builder_.Leaf(std::move(value), Line(mark)));
  }

  void BeginCollection(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor) {
    CheckTag(mark, tag, {kPlain, ""});
    if (builder_.wants_key()) {
      Refuse(mark, "a key is a list or a map; expected text");
    }
    open_.push_back({anchor, mark});
  }

  void EndCollection() {
    const Open open = open_.back();
    open_.pop_back();
    const Value& value = builder_.End();
    Keep(open.mark, open.anchor, value);
  }

  // Stores a value that has an anchor, and counts it towards the limits.
  void Keep(const YAML::Mark& mark, YAML::anchor_t anchor, const Value& value) {
    if (anchor == YAML::NullAnchor) return;
    const Weight weight = Weigh(value);
    Check(mark, builder_.Charge(weight));
    anchored_[anchor] = {value, weight};
  }

  TreeBuilder builder_;
  std::vector<Open> open_;
  absl::flat_hash_map<YAML::anchor_t, Anchored> anchored_;
  bool has_document_ = false;
};

// The first line with a control character; 0: none. NUL is one of them, so this
// also detects UTF-16.
int LineOfControlCharacter(absl::string_view text) {
  int line = 1;
  for (char c : text) {
    if (c == '\n') ++line;
    if (absl::ascii_iscntrl(c) && c != '\n' && c != '\r' && c != '\t') {
      return line;
    }
  }
  return 0;
}

absl::Status At(const std::string& source, int line,
                const absl::Status& status) {
  return Annotate(status, absl::StrCat(source, ":", line));
}

}  // namespace

absl::StatusOr<Value> ReadYaml(absl::string_view text,
                               const std::string& source, int64_t max_bytes) {
  if (static_cast<int64_t>(text.size()) > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(source, ": more than ", max_bytes, " bytes"));
  }
  if (const int line = LineOfControlCharacter(text); line > 0) {
    return At(source, line,
              absl::InvalidArgumentError(
                  "a control character; expected YAML or JSON in UTF-8"));
  }
  YamlHandler handler(max_bytes);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const Refusal& refusal) {
    return At(source, refusal.line, refusal.status);
  } catch (const YAML::ParserException& error) {
    return At(source, error.mark.line + 1,
              absl::InvalidArgumentError(absl::StrCat(
                  error.msg, " (column ", error.mark.column + 1, ")")));
  }
  return handler.Take();
}

}  // namespace paceline
