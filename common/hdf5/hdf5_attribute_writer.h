// The attributes that our writer of HDF5 gives to groups: texts, and lists of
// texts.
//
// A text lies in a collection of the global heap, since the message of an
// attribute has less than 64 KiB. A list lies in its message, where each text
// takes as many bytes as the longest.
#ifndef PACELINE_COMMON_HDF5_HDF5_ATTRIBUTE_WRITER_H_
#define PACELINE_COMMON_HDF5_HDF5_ATTRIBUTE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace paceline {

struct Hdf5Attribute {
  // Its path, such as "model_weights/dense"; "": the root. The group is there
  // even if nothing is in it.
  std::string group;
  // Unique in its group.
  std::string name;
  // One text, which is not empty, or a list of texts, which together have at
  // most kHdf5MaxListBytes. UTF-8 without NULs.
  std::variant<std::string, std::vector<std::string>> value;
};

// Of a list, where each text takes as many bytes as the longest. Keras'
// HDF5_OBJECT_HEADER_LIMIT.
inline constexpr size_t kHdf5MaxListBytes = 64512;

// The bytes that each text of a list takes, at least 1.
size_t Hdf5TextBytes(absl::Span<const std::string> list);

namespace hdf5 {

// A collection of the global heap, whose objects 1, 2 and so on are the texts.
std::string TextCollection(absl::Span<const absl::string_view> texts);

// The message of an attribute that is a text of so many bytes: object `index`
// of the collection at that address.
std::string TextMessage(absl::string_view name, size_t size,
                        int64_t collection_address, size_t index);

// The message of an attribute that is a list.
std::string ListMessage(absl::string_view name,
                        absl::Span<const std::string> list);

}  // namespace hdf5
}  // namespace paceline

#endif  // PACELINE_COMMON_HDF5_HDF5_ATTRIBUTE_WRITER_H_
