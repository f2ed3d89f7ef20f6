#include "worker/device/cuda/plugin/cublas_lt_product.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>

#include "worker/device/cuda/plugin/cuda_status.h"

namespace paceline::cuda {
namespace {

// Returns from the enclosing function if `expression` is an error.
#define RETURN_IF_CUBLAS_ERROR(expression)            \
  do {                                                \
    if (const cublasStatus_t returned = (expression); \
        returned != CUBLAS_STATUS_SUCCESS) {          \
      return returned;                                \
    }                                                 \
  } while (false)

// Owns an object of cuBLASLt, which is destroyed by `kDestroy`.
template <typename T, auto kDestroy>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  ~Owned() {
    if (value_ != nullptr) kDestroy(value_);
  }
  T* receive() { return &value_; }
  T get() const { return value_; }

 private:
  T value_ = nullptr;
};
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference =
    Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

// A matrix in C order as cuBLAS sees it: its transpose in column-major order.
cublasStatus_t MakeLayout(DataType type, int64_t rows, int64_t columns,
                          Layout& layout) {
  return cublasLtMatrixLayoutCreate(layout.receive(), ToCuda(type),
                                    static_cast<uint64_t>(columns),
                                    static_cast<uint64_t>(rows), columns);
}

// The largest power of two that divides the address, up to a maximum that
// matters.
uint32_t AlignmentOf(const void* address) {
  constexpr uintptr_t kEnough = 256;
  const uintptr_t bits = reinterpret_cast<uintptr_t>(address) | kEnough;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

// A product in cuBLAS' column-major terms: result = left · right becomes D = A
// · B, where A is `right` and B is `left`, both seen as their transposes.
class LtProduct {
 public:
  explicit LtProduct(const MatrixProduct& product) : product_(product) {}

  cublasStatus_t Initialize(const CublasLtContext& context) {
    const MatrixProduct& p = product_;
    // cuBLASLt has no preference for the alignment of these vectors, and some
    // algorithms assume that they are aligned.
    if (AlignmentOf(vector()) < kProductVectorAlignment) {
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    RETURN_IF_CUBLAS_ERROR(Describe(context.math_mode));
    RETURN_IF_CUBLAS_ERROR(
        p.right_is_transposed
            ? MakeLayout(p.result.type, p.columns, p.inner, a_)
            : MakeLayout(p.result.type, p.inner, p.columns, a_));
    RETURN_IF_CUBLAS_ERROR(
        p.left_is_transposed ? MakeLayout(p.result.type, p.inner, p.rows, b_)
                             : MakeLayout(p.result.type, p.rows, p.inner, b_));
    RETURN_IF_CUBLAS_ERROR(MakeLayout(p.result.type, p.rows, p.columns, d_));
    return Choose(context);
  }

  cublasStatus_t Enqueue(const CublasLtContext& context) const {
    const float one = 1;
    const float zero = 0;
    return cublasLtMatmul(
        context.handle, description_.get(), &one, product_.right.data, a_.get(),
        product_.left.data, b_.get(), &zero, product_.result.data, d_.get(),
        product_.result.data, d_.get(), &choice_.algo, context.workspace,
        context.workspace_bytes, context.stream);
  }

 private:
  bool has_bias() const { return product_.bias.data != nullptr; }
  const void* vector() const {
    return has_bias() ? product_.bias.data : product_.column_sums;
  }

  template <typename T>
  cublasStatus_t Set(cublasLtMatmulDescAttributes_t attribute, T value) {
    return cublasLtMatmulDescSetAttribute(description_.get(), attribute, &value,
                                          sizeof(value));
  }

  cublasStatus_t Describe(MathMode math_mode) {
    const auto operation = [](bool is_transposed) -> int32_t {
      return is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    RETURN_IF_CUBLAS_ERROR(cublasLtMatmulDescCreate(
        description_.receive(),
        math_mode == MathMode::kTf32 &&
                product_.result.type == DataType::kFloat32
            ? CUBLAS_COMPUTE_32F_FAST_TF32
            : CUBLAS_COMPUTE_32F,
        CUDA_R_32F));
    RETURN_IF_CUBLAS_ERROR(Set(CUBLASLT_MATMUL_DESC_TRANSA,
                               operation(product_.right_is_transposed)));
    RETURN_IF_CUBLAS_ERROR(Set(CUBLASLT_MATMUL_DESC_TRANSB,
                               operation(product_.left_is_transposed)));
    // The bias is as long as a column of D. The sums of the rows of A are the
    // sums of the columns of `right`.
    RETURN_IF_CUBLAS_ERROR(
        Set(CUBLASLT_MATMUL_DESC_EPILOGUE,
            static_cast<uint32_t>(has_bias() ? CUBLASLT_EPILOGUE_BIAS
                                             : CUBLASLT_EPILOGUE_BGRADA)));
    return Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector());
  }

  template <typename T>
  static cublasStatus_t Prefer(const Preference& preference,
                               cublasLtMatmulPreferenceAttributes_t attribute,
                               T value) {
    return cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute,
                                                &value, sizeof(value));
  }

  cublasStatus_t Choose(const CublasLtContext& context) {
    Preference preference;
    RETURN_IF_CUBLAS_ERROR(
        cublasLtMatmulPreferenceCreate(preference.receive()));
    RETURN_IF_CUBLAS_ERROR(Prefer(preference,
                                  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                  uint64_t{context.workspace_bytes}));
    // Variables are packed, so only the alignment of this address is
    // guaranteed.
    RETURN_IF_CUBLAS_ERROR(Prefer(preference,
                                  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                  AlignmentOf(product_.right.data)));
    RETURN_IF_CUBLAS_ERROR(Prefer(preference,
                                  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                                  AlignmentOf(product_.left.data)));
    for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                                 CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      RETURN_IF_CUBLAS_ERROR(
          Prefer(preference, attribute, AlignmentOf(product_.result.data)));
    }
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        context.handle, description_.get(), a_.get(), b_.get(), d_.get(),
        d_.get(), preference.get(), 1, &choice_, &count);
    // cuBLASLt reports a configuration that it cannot compute as invalid.
    if (status == CUBLAS_STATUS_INVALID_VALUE) {
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    RETURN_IF_CUBLAS_ERROR(status);
    return count == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : choice_.state;
  }

  const MatrixProduct& product_;
  Description description_;
  Layout a_;
  Layout b_;
  Layout d_;
  cublasLtMatmulHeuristicResult_t choice_ = {};
};

}  // namespace

cublasStatus_t MultiplyFused(const CublasLtContext& context,
                             const MatrixProduct& product) {
  LtProduct lt_product(product);
  RETURN_IF_CUBLAS_ERROR(lt_product.Initialize(context));
  return lt_product.Enqueue(context);
}

}  // namespace paceline::cuda
