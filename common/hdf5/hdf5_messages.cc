#include "common/hdf5/hdf5_messages.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/limits.h"

namespace paceline::hdf5 {
namespace {

bool IsIeee(const hdf5::FloatLayout& layout, uint64_t bits, Fields& fields) {
  // Little-endian, an implied leading bit, the sign in the highest bit.
  const auto sign_at = static_cast<uint64_t>(layout.size_bytes * 8 - 1);
  return bits == (sign_at << 8 | 0x20) && fields.Take(2) == 0 &&
         fields.Take(2) == static_cast<uint64_t>(layout.size_bytes * 8) &&
         fields.Take(1) == layout.exponent_at &&
         fields.Take(1) == layout.exponent_bits && fields.Take(1) == 0 &&
         fields.Take(1) == layout.mantissa_bits &&
         fields.Take(4) == layout.exponent_bias;
}

// Whether a link message says that its target is in another file.
bool IsExternalLink(const Message& message) {
  Fields fields(message.data);
  fields.Skip(1);
  const bool has_type = (fields.Take(1) & 0x08) != 0;
  return message.type == hdf5::kLink && has_type && fields.Take(1) == 64;
}

}  // namespace

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("damaged: ", what));
}

absl::Status NotRead(absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("has ", what,
                   ", expected a file as Keras writes it: contiguous "
                   "datasets without filters or links"));
}

bool IsLookedAt(uint16_t type) {
  switch (type) {
    case hdf5::kDataspace:
    case hdf5::kLinkInfo:
    case hdf5::kDatatype:
    case hdf5::kLink:
    case hdf5::kExternalFiles:
    case hdf5::kDataLayout:
    case hdf5::kFilterPipeline:
    case hdf5::kAttribute:
    case hdf5::kSymbolTable:
      return true;
    default:
      return false;
  }
}

Hdf5Type ParseType(Fields fields) {
  const uint64_t type_class = fields.Take(1) & 0x0F;
  const uint64_t bits = fields.Take(3);
  Hdf5Type type = {Hdf5Type::Kind::kOther,
                   static_cast<int64_t>(fields.Take(4))};
  if (type_class == hdf5::kFloatingPoint) {
    for (const hdf5::FloatLayout& layout : hdf5::kFloatLayouts) {
      if (layout.size_bytes != type.size_bytes) continue;
      if (IsIeee(layout, bits, fields)) type.kind = Hdf5Type::Kind::kFloat;
    }
  } else if (type_class == hdf5::kFixedPoint && type.size_bytes <= 8 &&
             (bits & ~uint64_t{0x08}) == 0 && fields.Take(2) == 0 &&
             fields.Take(2) == static_cast<uint64_t>(type.size_bytes * 8)) {
    type.kind =
        bits == 0x08 ? Hdf5Type::Kind::kSigned : Hdf5Type::Kind::kUnsigned;
  } else if (type_class == hdf5::kOpaque) {
    type.kind = Hdf5Type::Kind::kOpaque;
  }
  return type;
}

absl::StatusOr<Shape> ParseShape(Fields fields) {
  const uint64_t version = fields.Take(1);
  const uint64_t rank = fields.Take(1);
  fields.Skip(1);
  if (version == 1) {
    fields.Skip(5);
  } else if (version != 2) {
    return Damaged(absl::StrCat("a dataspace of version ", version));
  } else if (fields.Take(1) == 2) {
    return NotRead("an empty dataspace");
  }
  if (rank > limits::kMaxRank) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "has ", rank, " dimensions, expected at most ", limits::kMaxRank));
  }
  Shape shape;
  int64_t elements = 1;
  for (uint64_t axis = 0; axis < rank; ++axis) {
    const uint64_t size = fields.Take(8);
    if (size > uint64_t{limits::kMaxElements} ||
        static_cast<int64_t>(size) >
            limits::kMaxElements / std::max<int64_t>(elements, 1)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("has more than ", limits::kMaxElements, " elements"));
    }
    elements *= static_cast<int64_t>(size);
    shape.push_back(static_cast<int64_t>(size));
  }
  if (fields.is_cut()) return Damaged("a dataspace is cut");
  return shape;
}

absl::StatusOr<Extent> ParseLayout(Fields fields) {
  const uint64_t version = fields.Take(1);
  if (version != 3) {
    return NotRead(absl::StrCat("a data layout of version ", version));
  }
  const uint64_t layout_class = fields.Take(1);
  if (layout_class == 0) return NotRead("a compact dataset");
  if (layout_class != 1) return NotRead("a chunked dataset");
  const Extent extent = {fields.Take(8), fields.Take(8)};
  if (fields.is_cut()) return Damaged("a data layout is cut");
  return extent;
}

const Message* FindMessage(absl::Span<const Message> messages, uint16_t type) {
  for (const Message& message : messages) {
    if (message.type == type) return &message;
  }
  return nullptr;
}

absl::Status CheckMessages(absl::Span<const Message> messages) {
  static constexpr std::pair<uint16_t, absl::string_view> kRefused[] = {
      {hdf5::kFilterPipeline, "filters (compression)"},
      {hdf5::kExternalFiles, "elements in an external file"},
      {hdf5::kLink, "links of a newer format (libver=\"latest\")"},
      {hdf5::kLinkInfo, "links of a newer format (libver=\"latest\")"}};
  for (const Message& message : messages) {
    if (IsExternalLink(message)) return NotRead("an external link");
  }
  for (const auto& [type, what] : kRefused) {
    if (FindMessage(messages, type) != nullptr) return NotRead(what);
  }
  return absl::OkStatus();
}

}  // namespace paceline::hdf5
