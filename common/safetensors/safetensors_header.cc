#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/safetensors/safetensors.h"
#include "glog/logging.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;

absl::Status Damaged(absl::string_view entry, absl::string_view reason) {
  return absl::DataLossError(
      absl::StrCat("header, ", PeerText(entry), ": ", reason));
}

// For what other programs may read.
absl::Status NotSupported(absl::string_view entry, absl::string_view reason) {
  return absl::UnimplementedError(
      absl::StrCat("header, ", PeerText(entry), ": ", reason));
}

// Bytes per element.
constexpr std::pair<absl::string_view, int64_t> kDtypes[] = {
    {"U64", 8}, {"I64", 8},     {"F64", 8},     {"C64", 8},     {"F32", 4},
    {"U32", 4}, {"I32", 4},     {"BF16", 2},    {"F16", 2},     {"U16", 2},
    {"I16", 2}, {"F8_E8M0", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I8", 1},
    {"U8", 1},  {"BOOL", 1},
};

// Bytes per element of a tensor's dtype.
absl::StatusOr<int64_t> ElementBytes(absl::string_view tensor,
                                     const json& dtype) {
  if (!dtype.is_string()) {
    return Damaged(tensor, absl::StrCat("dtype: expected a name, got ",
                                        dtype.dump().substr(0, 60)));
  }
  const auto& text = dtype.get_ref<const std::string&>();
  std::string known;
  for (const auto& [name, bytes] : kDtypes) {
    if (text == name) return bytes;
    absl::StrAppend(&known, known.empty() ? "" : ", ", name);
  }
  return NotSupported(tensor,
                      absl::StrCat("the dtype ", dtype.dump().substr(0, 60),
                                   " is not supported; expected ", known));
}

// Parses JSON, and refuses repeated keys.
absl::StatusOr<json> ParseStrictly(absl::string_view text) {
  std::vector<std::set<std::string>> open_objects;
  std::string repeated;
  const auto watch = [&](int /*depth*/, json::parse_event_t event,
                         json& parsed) {
    if (event == json::parse_event_t::object_start) {
      open_objects.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_objects.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_objects.back().insert(key).second) repeated = key;
    }
    return true;
  };
  json result = json::parse(text.begin(), text.end(), watch,
                            /*allow_exceptions=*/false);
  if (!result.is_object()) {
    return absl::DataLossError("header is no JSON object");
  }
  if (!repeated.empty()) return Damaged(repeated, "the key is repeated");
  return result;
}

absl::Status ParseMetadata(const json& value, SafetensorsMetadata& metadata) {
  if (!value.is_object()) return Damaged("__metadata__", "expected an object");
  for (const auto& [key, entry] : value.items()) {
    if (!entry.is_string()) {
      return Damaged(absl::StrCat("__metadata__.", key), "expected a string");
    }
    metadata[key] = entry.get<std::string>();
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> ParseShape(absl::string_view name, const json& value) {
  if (!value.is_array()) {
    return Damaged(name, "shape: expected a list of sizes");
  }
  if (value.size() > limits::kMaxRank) {
    return NotSupported(
        name, absl::StrCat("a shape of ", value.size(),
                           " axes is not supported; expected at most ",
                           limits::kMaxRank));
  }
  Shape shape;
  int64_t elements = 1;
  for (const json& size : value) {
    if (!size.is_number_unsigned() ||
        size.get<uint64_t>() > uint64_t{limits::kMaxElements} ||
        __builtin_mul_overflow(elements, size.get<int64_t>(), &elements) ||
        elements > limits::kMaxElements) {
      return Damaged(name, absl::StrCat("shape: not possible: ",
                                        value.dump().substr(0, 60)));
    }
    shape.push_back(size.get<int64_t>());
  }
  return shape;
}

absl::StatusOr<TensorEntry> ParseTensor(absl::string_view name,
                                        const json& value) {
  if (!value.is_object() || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    return Damaged(name, "expected dtype, shape and data_offsets");
  }
  TensorEntry entry;
  ASSIGN_OR_RETURN(const int64_t element_bytes,
                   ElementBytes(name, value["dtype"]));
  entry.dtype = value["dtype"];
  ASSIGN_OR_RETURN(entry.shape, ParseShape(name, value["shape"]));

  const json& offsets = value["data_offsets"];
  const auto is_offset = [](const json& each) {
    return each.is_number_unsigned() && each.get<uint64_t>() <= INT64_MAX;
  };
  if (!offsets.is_array() || offsets.size() != 2 || !is_offset(offsets[0]) ||
      !is_offset(offsets[1])) {
    return Damaged(name, "data_offsets: expected two offsets");
  }
  entry.begin_bytes = offsets[0];
  entry.end_bytes = offsets[1];
  const int64_t expected_bytes = NumElements(entry.shape) * element_bytes;
  if (entry.end_bytes - entry.begin_bytes != expected_bytes) {
    return Damaged(
        name, absl::StrCat("data_offsets: ", entry.begin_bytes, " to ",
                           entry.end_bytes, " is not the size of shape ",
                           ShapeToString(entry.shape), " of ", entry.dtype));
  }
  return entry;
}

// Tensors must cover the data without gaps or overlaps.
absl::Status CheckCoverage(const SafetensorsHeader& header,
                           int64_t data_size_bytes) {
  std::vector<std::pair<int64_t, const std::string*>> order;
  for (const auto& [name, entry] : header.tensors) {
    order.emplace_back(entry.begin_bytes, &name);
  }
  // An empty tensor may start at the same offset as another tensor; sort it
  // first.
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    const auto key = [&](const auto& each) {
      return std::make_pair(each.first,
                            header.tensors.at(*each.second).end_bytes);
    };
    return key(a) < key(b);
  });
  int64_t next = 0;
  for (const auto& [begin, name] : order) {
    if (begin != next) {
      return Damaged(*name, absl::StrCat("data_offsets: starts at ", begin,
                                         begin > next ? ", after a gap from "
                                                      : ", which overlaps ",
                                         next));
    }
    next = header.tensors.at(*name).end_bytes;
  }
  if (next != data_size_bytes) {
    return absl::DataLossError(absl::StrCat("header describes ", next,
                                            " bytes of data, the file has ",
                                            data_size_bytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view SafetensorsDtype(DataType type) {
  switch (type) {
    case DataType::kUint8:
      return "U8";
    case DataType::kInt32:
      return "I32";
    case DataType::kFloat32:
      return "F32";
    case DataType::kFloat64:
      return "F64";
    case DataType::kFloat16:
      return "F16";
    case DataType::kBFloat16:
      return "BF16";
    case DataType::kBool:
      return "BOOL";
  }
  LOG(FATAL) << "unknown type";
}

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(
    absl::string_view text, int64_t data_size_bytes) {
  ASSIGN_OR_RETURN(const json parsed, ParseStrictly(text));
  SafetensorsHeader header;
  for (const auto& [name, value] : parsed.items()) {
    if (name == "__metadata__") {
      RETURN_IF_ERROR(ParseMetadata(value, header.metadata));
    } else {
      ASSIGN_OR_RETURN(header.tensors[name], ParseTensor(name, value));
    }
  }
  RETURN_IF_ERROR(CheckCoverage(header, data_size_bytes));
  return header;
}

}  // namespace paceline
