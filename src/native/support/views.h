// Arrays as Python hands them over: an address and a shape, C-contiguous.
#pragma once

#include <cstdint>
#include <span>

namespace bayleaf {

// A table of shape (rows, columns); a row is a span.
template <class T>
struct Matrix {
    T* data = nullptr;
    int64_t rows = 0, columns = 0;

    std::span<T> operator[](int64_t row) const {
        return {data + row * columns, static_cast<std::size_t>(columns)};
    }
    T& operator()(int64_t row, int64_t column) const {
        return data[row * columns + column];
    }
};

// A stack of shape (layers, rows, columns); a layer is a Matrix.
template <class T>
struct Stack {
    T* data = nullptr;
    int64_t layers = 0, rows = 0, columns = 0;

    Matrix<T> operator[](int64_t layer) const {
        return {data + layer * rows * columns, rows, columns};
    }
    T& operator()(int64_t layer, int64_t row, int64_t column) const {
        return data[(layer * rows + row) * columns + column];
    }
};

template <class T>
std::span<T> view(T* data, int64_t size) {
    return {data, static_cast<std::size_t>(size)};
}

}  // namespace bayleaf
