// Field tables: one table per class drives reading, writing, errors and
// documentation of its configuration.
//
//   struct Dense : Layer {
//     int64_t units = 0;
//     Activation activation = Activation::kLinear;
//     static const FieldTable<Dense>& Fields();
//   };
//
//   const FieldTable<Dense>& Dense::Fields() {
//     static const auto& table = *new FieldTable<Dense>(
//         "Dense", "Densely connected layer.",
//         {Optional("name", &Layer::name, "Name, unique in the model."),
//          Required("units", &Dense::units, AtLeast(1), "Size of the output."),
//          Optional("activation", &Dense::activation, "Of the output."),
//          Only("data_format", "channels_last", "Layout of images.")});
//     return table;
//   }
//
// Defaults are those of a default-constructed object, unless the table gets a
// `make_default`. codec.h lists the supported member types, and says how to add
// one.
#ifndef PACELINE_COMMON_CONFIG_FIELD_TABLE_H_
#define PACELINE_COMMON_CONFIG_FIELD_TABLE_H_

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/config/check.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// When FieldTable::Write writes a key.
enum class WhenWritten { kAlways, kUnlessDefault, kNever };

// The part of a field that does not depend on the class.
struct FieldInfo {
  std::string key;
  // The type, for people: "integer".
  std::string type;
  // The check's condition, "at least 1"; may be empty.
  std::string expectation;
  // A line of help.
  std::string help;
  bool is_required = false;
  // Keys that may not be set together with this one, unless they are null.
  std::vector<std::string> excludes = {};
  // Whether the key appears in the reference documentation.
  bool is_documented = true;
  WhenWritten when_written = WhenWritten::kAlways;
  // The default, for people; empty: as it is written.
  std::string default_text = "";
};

// The reference documentation of a table.
struct ClassReference {
  // Keras' class name, or a name for people.
  std::string name;
  // A heading, a description, and a table of keys.
  std::string markdown;
};

// A key without a member: it is accepted or refused, and always written alike.
struct FixedField {
  FieldInfo info;
  std::function<absl::Status(const Value&, const Path&)> read;
  std::optional<Value> written;
};

template <typename T>
struct Field {
  using Reader = std::function<absl::Status(const Value&, const Path&, T&)>;
  // Returns nullopt to leave the key out.
  using Writer = std::function<std::optional<Value>(const T&)>;
  // Null: the field has no file paths.
  using FileWalk = std::function<void(T&, const Path&, FileVisitor)>;

  Field(FieldInfo info, Reader read, Writer write,
        FileWalk visit_files = nullptr)
      : info(std::move(info)),
        read(std::move(read)),
        write(std::move(write)),
        visit_files(std::move(visit_files)) {}
  // Converts fields of a base class, and fields without a member, so that one
  // list can have all of them. NOLINTBEGIN(google-explicit-constructor)
  template <typename Base>
  requires std::derived_from<T, Base> &&
      (!std::same_as<T, Base>)Field(Field<Base> base)
      : info(std::move(base.info)),
        read(std::move(base.read)),
        write(std::move(base.write)),
        visit_files(std::move(base.visit_files)) {}
  Field(FixedField fixed)
      : info(std::move(fixed.info)),
        read([read = std::move(fixed.read)](const Value& value,
                                            const Path& path,
                                            T&) { return read(value, path); }),
        write([written = std::move(fixed.written)](const T&) {
          return written;
        }) {}
  // NOLINTEND(google-explicit-constructor)

  FieldInfo info;
  Reader read;
  Writer write;
  FileWalk visit_files;
};

// A member that is accessed by functions, such as a protobuf field.
template <typename T, typename M>
struct Accessors {
  std::function<M(const T&)> get;
  std::function<void(T&, M)> set;
};

// M without std::optional.
template <typename M>
struct Unwrapped {
  using Type = M;
};
template <typename M>
struct Unwrapped<std::optional<M>> {
  using Type = M;
};

// The type's name for people; without "or null" if the key is required.
template <typename M>
std::string TypeName(const FieldInfo& info) {
  return info.is_required ? Codec<typename Unwrapped<M>::Type>::Type()
                          : Codec<M>::Type();
}

// A function that visits a member's file paths.
template <typename T, typename M>
typename Field<T>::FileWalk FileWalkOf(M T::*member) {
  if constexpr (HoldsFiles<M>) {
    return [member](T& object, const Path& path, FileVisitor visit) {
      Codec<M>::VisitFiles(object.*member, path, visit);
    };
  }
  return nullptr;
}

template <typename T, typename M>
typename Field<T>::FileWalk FileWalkOf(const Accessors<T, M>& member) {
  if constexpr (HoldsFiles<M>) {
    return [member](T& object, const Path& path, FileVisitor visit) {
      M m = member.get(object);
      Codec<M>::VisitFiles(m, path, visit);
      member.set(object, std::move(m));
    };
  }
  return nullptr;
}

template <typename T, typename M>
Field<T> MakeField(FieldInfo info, M T::*member, const Check& check) {
  info.type = TypeName<M>(info);
  info.expectation = check.expectation;
  return Field<T>(
      std::move(info),
      [member, check](const Value& value, const Path& path, T& object) {
        RETURN_IF_ERROR(Codec<M>::Read(value, path, object.*member));
        return Apply(check, value, path);
      },
      [member](const T& object) { return Codec<M>::Write(object.*member); },
      FileWalkOf(member));
}

template <typename T, typename M>
Field<T> MakeField(FieldInfo info, const Accessors<T, M>& member,
                   const Check& check) {
  info.type = TypeName<M>(info);
  info.expectation = check.expectation;
  return Field<T>(
      std::move(info),
      [set = member.set, check](const Value& value, const Path& path,
                                T& object) {
        M read{};
        RETURN_IF_ERROR(Codec<M>::Read(value, path, read));
        RETURN_IF_ERROR(Apply(check, value, path));
        set(object, std::move(read));
        return absl::OkStatus();
      },
      [get = member.get](const T& object) {
        return Codec<M>::Write(get(object));
      },
      FileWalkOf(member));
}

// A key that must be present and not null. `member` is a pointer to a member,
// or Accessors.
template <typename Member>
auto Required(const std::string& key, const Member& member, const Check& check,
              const std::string& help) {
  return MakeField({.key = key,
                    .type = "",
                    .expectation = "",
                    .help = help,
                    .is_required = true},
                   member, check);
}
template <typename Member>
auto Required(const std::string& key, const Member& member,
              const std::string& help) {
  return Required(key, member, Check(), help);
}

// A key that keeps its default if it is absent.
template <typename Member>
auto Optional(const std::string& key, const Member& member, const Check& check,
              const std::string& help) {
  return MakeField({.key = key, .type = "", .expectation = "", .help = help},
                   member, check);
}
template <typename Member>
auto Optional(const std::string& key, const Member& member,
              const std::string& help) {
  return Optional(key, member, Check(), help);
}

// The same field, which may not be combined with any of `keys`.
template <typename T>
Field<T> Excluding(const std::vector<std::string>& keys, Field<T> field) {
  field.info.excludes = keys;
  return field;
}

// The same field, with its own function for writing.
template <typename T>
Field<T> WrittenAs(typename Field<T>::Writer write, Field<T> field) {
  field.write = std::move(write);
  return field;
}

// The same field, written unless it has its default.
template <typename T>
Field<T> WrittenUnlessDefault(Field<T> field) {
  field.info.when_written = WhenWritten::kUnlessDefault;
  return field;
}

// The same field, read and never written: such as a key with a single supported
// value that is Keras' default, and that older releases of Keras do not know.
template <typename T>
Field<T> NotWritten(Field<T> field) {
  field.info.when_written = WhenWritten::kNever;
  return field;
}
FixedField NotWritten(FixedField field);

// A Keras key of which only one value is supported; other values are refused as
// not supported yet. Written with that value.
FixedField Only(std::string key, Value value, std::string help);

// A key that accepts any value and has no effect. Always written as `written`.
FixedField Ignored(std::string key, Value written, std::string help);

// A known key that is not supported yet: Unimplemented.
FixedField NotYet(std::string key, std::string help);

// Concatenates lists of fields.
template <typename T>
std::vector<Field<T>> Joined(std::vector<std::vector<Field<T>>> lists) {
  std::vector<Field<T>> joined;
  for (std::vector<Field<T>>& list : lists) {
    for (Field<T>& field : list) joined.push_back(std::move(field));
  }
  return joined;
}

// The parts of FieldTable that do not depend on the class.
class FieldTableBase {
 public:
  FieldTableBase(std::string name, std::string help)
      : name_(std::move(name)), help_(std::move(help)) {}

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }

 protected:
  // InvalidArgument unless `value` is a map (or null, which counts as empty)
  // with only known keys, all required keys (not null), and no two keys that
  // exclude each other.
  absl::Status CheckKeys(const Value& value, const Path& path,
                         const std::vector<FieldInfo>& infos) const;

  std::string Describe(const std::vector<FieldInfo>& infos) const;

  // `defaults` has the default of each field as it is written.
  ClassReference Document(
      const std::vector<FieldInfo>& infos,
      const std::vector<std::optional<Value>>& defaults) const;

 private:
  std::string name_;
  std::string help_;
};

// Immutable; thread-safe.
template <typename T>
class FieldTable : public FieldTableBase {
 public:
  // Whether fields fit each other; an error names the field that does not.
  using CheckObject = std::function<absl::Status(const T&, const Path&)>;

  // `name`: Keras' class name, or a name for people.
  FieldTable(
      std::string name, std::string help, std::vector<Field<T>> fields,
      std::function<T()> make_default = [] { return T(); },
      CheckObject check = nullptr)
      : FieldTableBase(std::move(name), std::move(help)),
        fields_(std::move(fields)),
        make_default_(std::move(make_default)),
        check_(std::move(check)) {
    for (const Field<T>& field : fields_) infos_.push_back(field.info);
  }

  // Reads the object in a map; null gives the default. Errors name the path and
  // what is expected there.
  absl::StatusOr<T> Read(const Value& value, const Path& path) const {
    T object = make_default_();
    RETURN_IF_ERROR(ReadInto(value, path, object));
    return object;
  }

  // The same, into an object that has the defaults. After an error the object
  // is partly read.
  absl::Status ReadInto(const Value& value, const Path& path, T& object) const {
    RETURN_IF_ERROR(CheckKeys(value, path, infos_));
    if (value.is_null()) return absl::OkStatus();
    for (const Field<T>& field : fields_) {
      const Value* entry = value.Find(field.info.key);
      if (entry == nullptr) continue;
      RETURN_IF_ERROR(field.read(*entry, path.Key(field.info.key), object));
    }
    if (check_) RETURN_IF_ERROR(check_(object, path));
    return absl::OkStatus();
  }

  // All keys that are written, with their values, in the order of the table.
  // For a Keras class this is get_config(): keys in the same order, with values
  // as json.dumps writes them; without those that are not written at their
  // defaults.
  Value Write(const T& object) const {
    return WriteFields(object, /*with_defaults=*/true);
  }

  // The same without optional keys that have their defaults. So the output for
  // an object does not change when the table gets another optional key.
  Value WriteWithoutDefaults(const T& object) const {
    return WriteFields(object, /*with_defaults=*/false);
  }

  // Calls `visit` with each file path of the object.
  void VisitFiles(T& object, const Path& path, FileVisitor visit) const {
    for (const Field<T>& field : fields_) {
      if (!field.visit_files) continue;
      field.visit_files(object, path.Key(field.info.key), visit);
    }
  }

  // The required keys, for errors: "idx: {features: PATH, labels: PATH}".
  std::string Example() const { return Describe(infos_); }

  ClassReference Reference() const {
    const T object = make_default_();
    std::vector<std::optional<Value>> defaults;
    for (const Field<T>& field : fields_) {
      defaults.push_back(field.write(object));
    }
    return Document(infos_, defaults);
  }

 private:
  Value WriteFields(const T& object, bool with_defaults) const {
    const T fallback = make_default_();
    Value::Map map;
    for (const Field<T>& field : fields_) {
      const WhenWritten when = field.info.when_written;
      if (when == WhenWritten::kNever) continue;
      std::optional<Value> value = field.write(object);
      if (!value) continue;
      const bool is_always_written =
          field.info.is_required ||
          (with_defaults && when == WhenWritten::kAlways);
      if (!is_always_written && value == field.write(fallback)) continue;
      map.push_back({field.info.key, *std::move(value)});
    }
    return map;
  }

  std::vector<Field<T>> fields_;
  std::vector<FieldInfo> infos_;
  std::function<T()> make_default_;
  CheckObject check_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_FIELD_TABLE_H_
