// A descriptor of cuDNN's graph API.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_DESCRIPTOR_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_DESCRIPTOR_H_

#include <cudnn.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace paceline::cuda {

// cuDNN's name for the type of an attribute's values.
template <typename T>
struct CudnnType;
template <>
struct CudnnType<bool> {
  static constexpr auto kType = CUDNN_TYPE_BOOLEAN;
};
template <>
struct CudnnType<char> {
  static constexpr auto kType = CUDNN_TYPE_CHAR;
};
template <>
struct CudnnType<int64_t> {
  static constexpr auto kType = CUDNN_TYPE_INT64;
};
template <>
struct CudnnType<float> {
  static constexpr auto kType = CUDNN_TYPE_FLOAT;
};
template <>
struct CudnnType<void*> {
  static constexpr auto kType = CUDNN_TYPE_VOID_PTR;
};
template <>
struct CudnnType<cudnnHandle_t> {
  static constexpr auto kType = CUDNN_TYPE_HANDLE;
};
template <>
struct CudnnType<cudnnDataType_t> {
  static constexpr auto kType = CUDNN_TYPE_DATA_TYPE;
};
template <>
struct CudnnType<cudnnConvolutionMode_t> {
  static constexpr auto kType = CUDNN_TYPE_CONVOLUTION_MODE;
};
template <>
struct CudnnType<cudnnPointwiseMode_t> {
  static constexpr auto kType = CUDNN_TYPE_POINTWISE_MODE;
};
template <>
struct CudnnType<cudnnNanPropagation_t> {
  static constexpr auto kType = CUDNN_TYPE_NAN_PROPOGATION;
};
template <>
struct CudnnType<cudnnBackendHeurMode_t> {
  static constexpr auto kType = CUDNN_TYPE_HEUR_MODE;
};
template <>
struct CudnnType<cudnnBackendNumericalNote_t> {
  static constexpr auto kType = CUDNN_TYPE_NUMERICAL_NOTE;
};

// Set the attributes one by one, then call Finalize, which returns the first
// error. Descriptors to which attributes refer must outlive this one.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  ~CudnnDescriptor();

  template <typename T>
  void Set(cudnnBackendAttributeName_t attribute, const T& value) {
    SetRaw(attribute, CudnnType<T>::kType, 1, &value);
  }
  template <typename T>
  void SetAll(cudnnBackendAttributeName_t attribute,
              absl::Span<const T> values) {
    SetRaw(attribute, CudnnType<T>::kType, values.size(), values.data());
  }
  void Refer(cudnnBackendAttributeName_t attribute,
             const CudnnDescriptor& other) {
    SetRaw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
  }
  void ReferToAll(cudnnBackendAttributeName_t attribute,
                  absl::Span<const CudnnDescriptor> others);

  // Unimplemented: cuDNN does not support this combination of attributes.
  absl::Status Finalize();

  // Reads an attribute of a finalized descriptor.
  template <typename T>
  absl::StatusOr<T> Get(cudnnBackendAttributeName_t attribute) const {
    T value{};
    int64_t count = 0;
    const absl::Status status =
        GetRaw(attribute, CudnnType<T>::kType, 1, &count, &value);
    if (!status.ok()) return status;
    return value;
  }
  template <typename T>
  absl::StatusOr<std::vector<T>> GetAll(cudnnBackendAttributeName_t attribute,
                                        int64_t max_count) const {
    std::vector<T> values(max_count);
    int64_t count = 0;
    const absl::Status status = GetRaw(attribute, CudnnType<T>::kType,
                                       max_count, &count, values.data());
    if (!status.ok()) return status;
    values.resize(count);
    return values;
  }
  // The descriptors of `type` to which the attribute refers.
  absl::StatusOr<std::vector<CudnnDescriptor>> Referred(
      cudnnBackendAttributeName_t attribute, cudnnBackendDescriptorType_t type,
      int64_t max_count) const;
  absl::StatusOr<int64_t> ReferredCount(
      cudnnBackendAttributeName_t attribute) const;

  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  void SetRaw(cudnnBackendAttributeName_t attribute,
              cudnnBackendAttributeType_t type, size_t count,
              const void* values);
  absl::Status GetRaw(cudnnBackendAttributeName_t attribute,
                      cudnnBackendAttributeType_t type, int64_t max_count,
                      int64_t* count, void* values) const;

  cudnnBackendDescriptorType_t type_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  absl::Status status_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_DESCRIPTOR_H_
