#include "worker/device/cuda/plugin/cudnn_descriptor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/device/cuda/plugin/cudnn_status.h"

namespace paceline::cuda {

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type)
    : type_(type) {
  status_ = ToStatus(cudnnBackendCreateDescriptor(type, &descriptor_),
                     absl::StrCat("a descriptor of type ", type));
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : type_(other.type_),
      descriptor_(std::exchange(other.descriptor_, nullptr)),
      status_(std::move(other.status_)) {}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) cudnnBackendDestroyDescriptor(descriptor_);
}

void CudnnDescriptor::SetRaw(cudnnBackendAttributeName_t attribute,
                             cudnnBackendAttributeType_t type, size_t count,
                             const void* values) {
  if (!status_.ok()) return;
  status_ =
      ToStatus(cudnnBackendSetAttribute(descriptor_, attribute, type,
                                        static_cast<int64_t>(count), values),
               absl::StrCat("attribute ", attribute,
                            " of a descriptor of type ", type_));
}

void CudnnDescriptor::ReferToAll(cudnnBackendAttributeName_t attribute,
                                 absl::Span<const CudnnDescriptor> others) {
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const CudnnDescriptor& other : others) raw.push_back(other.get());
  SetRaw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.size(), raw.data());
}

absl::Status CudnnDescriptor::Finalize() {
  RETURN_IF_ERROR(status_);
  return ToStatus(cudnnBackendFinalize(descriptor_),
                  absl::StrCat("a descriptor of type ", type_));
}

absl::Status CudnnDescriptor::GetRaw(cudnnBackendAttributeName_t attribute,
                                     cudnnBackendAttributeType_t type,
                                     int64_t max_count, int64_t* count,
                                     void* values) const {
  return ToStatus(cudnnBackendGetAttribute(descriptor_, attribute, type,
                                           max_count, count, values),
                  absl::StrCat("attribute ", attribute,
                               " of a descriptor of type ", type_));
}

absl::StatusOr<int64_t> CudnnDescriptor::ReferredCount(
    cudnnBackendAttributeName_t attribute) const {
  int64_t count = 0;
  RETURN_IF_ERROR(
      GetRaw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
  return count;
}

absl::StatusOr<std::vector<CudnnDescriptor>> CudnnDescriptor::Referred(
    cudnnBackendAttributeName_t attribute, cudnnBackendDescriptorType_t type,
    int64_t max_count) const {
  // cuDNN fills in existing descriptors.
  std::vector<CudnnDescriptor> referred;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < max_count; ++i) {
    raw.push_back(referred.emplace_back(type).get());
    RETURN_IF_ERROR(referred.back().status_);
  }
  int64_t count = 0;
  RETURN_IF_ERROR(GetRaw(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, max_count,
                         &count, raw.data()));
  while (static_cast<int64_t>(referred.size()) > count) referred.pop_back();
  return referred;
}

}  // namespace paceline::cuda
