// Keras' initializers, with a counter-based random generator.
//
// An element's value depends only on the job's seed, the variable's name (or,
// instead of both, on the seed in the initializer's config) and the element's
// index. So every process derives the same values, and a parameter server
// computes only the part of a variable that it holds, but for initializers that
// compute the whole.
#ifndef PACELINE_COMMON_MODEL_INITIALIZER_H_
#define PACELINE_COMMON_MODEL_INITIALIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/philox.h"
#include "common/tensor/shape.h"

namespace paceline {

class Path;
class Value;
struct ClassReference;

// The key of a variable's initial values: the job's seed and a hash of the
// variable's name.
RandomKey VariableKey(uint64_t seed, absl::string_view variable_name);

// Immutable and thread-safe.
class Initializer {
 public:
  virtual ~Initializer() = default;

  // Keras' class name, such as "GlorotUniform".
  virtual absl::string_view class_name() const = 0;

  // InvalidArgument if it has no values for a variable of this shape.
  virtual absl::Status CheckShape(absl::Span<const int64_t> /*shape*/) const {
    return absl::OkStatus();
  }

  // Whether Fill computes all elements, whatever part of them is wanted. Who
  // wants several parts uses SeededValues.
  virtual bool computes_whole() const { return false; }

  // Writes elements [begin, begin + out.size()) of a variable of `shape`, in C
  // order. Values are computed in double and rounded, so float32 and float64
  // runs have the same initial values up to rounding.
  virtual void Fill(RandomKey key, absl::Span<const int64_t> shape,
                    int64_t begin, absl::Span<float> out) const = 0;
  virtual void Fill(RandomKey key, absl::Span<const int64_t> shape,
                    int64_t begin, absl::Span<double> out) const = 0;
};

// Keras' defaults: GlorotUniform for kernels, Zeros for biases, Ones for
// gammas, Orthogonal for kernels of a recurrent state.
std::shared_ptr<const Initializer> DefaultKernelInitializer();
std::shared_ptr<const Initializer> DefaultEmbeddingsInitializer();
std::shared_ptr<const Initializer> ZerosInitializer();
std::shared_ptr<const Initializer> OnesInitializer();
std::shared_ptr<const Initializer> OrthogonalInitializer();

// Reads a name ("he_normal", "zeros") or a Keras object; writes Keras'
// serialised form. See codec.h.
absl::Status ReadConfig(const Value& value, const Path& path,
                        std::shared_ptr<const Initializer>& out);
Value WriteConfig(const std::shared_ptr<const Initializer>& initializer);
std::string ConfigType(const std::shared_ptr<const Initializer>*);

// The references of all initializers, by class name.
std::vector<ClassReference> InitializerReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZER_H_
