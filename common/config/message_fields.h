// Field tables for protobuf messages.
//
// A message M (or another class) is read from a map if its namespace has a
// function
//
//   const FieldTable<M>& FieldsOf(const M*);
//
// Unset fields are not written.
#ifndef PACELINE_COMMON_CONFIG_MESSAGE_FIELDS_H_
#define PACELINE_COMMON_CONFIG_MESSAGE_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config/field_table.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace paceline {

template <typename M>
requires requires(const M* m) { FieldsOf(m); }
struct Codec<M> {
  static absl::Status Read(const Value& value, const Path& path, M& out) {
    ASSIGN_OR_RETURN(out, FieldsOf(&out).Read(value, path));
    return absl::OkStatus();
  }
  static Value Write(const M& m) {
    Value::Map set;
    Value all = FieldsOf(&m).Write(m);
    for (Value::Entry& entry : all.as_map()) {
      if (!entry.value.is_null()) set.push_back(std::move(entry));
    }
    return set;
  }
  static std::string Type() {
    return FieldsOf(static_cast<const M*>(nullptr)).name();
  }
  static void VisitFiles(M& m, const Path& path, FileVisitor visit) {
    FieldsOf(&m).VisitFiles(m, path, visit);
  }
};

// These functions make Accessors from the accessors that protoc generates.

// For a bool or a double.
template <typename M, typename V>
Accessors<M, V> Scalar(V (M::*get)() const, void (M::*set)(V)) {
  return {get, set};
}

// For an unsigned integer; the field's Check must keep its range.
template <typename M, typename V>
Accessors<M, int64_t> Whole(V (M::*get)() const, void (M::*set)(V)) {
  return {[get](const M& m) { return static_cast<int64_t>((m.*get)()); },
          [set](M& m, int64_t value) { (m.*set)(static_cast<V>(value)); }};
}

template <typename M>
Accessors<M, std::string> Text(const std::string& (M::*get)() const,
                               std::string* (M::*mutate)()) {
  return {get,
          [mutate](M& m, const std::string& value) { *(m.*mutate)() = value; }};
}

// For a string that is the path of a file, or empty if there is none.
template <typename M>
Accessors<M, std::optional<FilePath>> File(const std::string& (M::*get)() const,
                                           std::string* (M::*mutate)()) {
  return {[get](const M& m) {
            const std::string& path = (m.*get)();
            return path.empty() ? std::nullopt : std::optional(FilePath{path});
          },
          [mutate](M& m, const std::optional<FilePath>& path) {
            *(m.*mutate)() = path ? path->text : "";
          }};
}

// For a nested message.
template <typename M, typename V>
Accessors<M, std::optional<V>> Inner(bool (M::*has)() const,
                                     const V& (M::*get)() const,
                                     V* (M::*mutate)()) {
  return {[has, get](const M& m) {
            return (m.*has)() ? std::optional<V>((m.*get)()) : std::nullopt;
          },
          [mutate](M& m, std::optional<V> value) {
            if (value) *(m.*mutate)() = *std::move(value);
          }};
}

// For a repeated message.
template <typename M, typename V>
Accessors<M, std::vector<V>> Repeated(
    const google::protobuf::RepeatedPtrField<V>& (M::*get)() const,
    google::protobuf::RepeatedPtrField<V>* (M::*mutate)()) {
  return {[get](const M& m) {
            return std::vector<V>((m.*get)().begin(), (m.*get)().end());
          },
          [mutate](M& m, std::vector<V> values) {
            (m.*mutate)()->Assign(values.begin(), values.end());
          }};
}

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_MESSAGE_FIELDS_H_
