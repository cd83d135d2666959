package com.mindspore.config;

import com.mindspore.MindSporeException;
import java.util.ArrayList;
import java.util.List;

/** Conversion of lists for the native library. */
final class Lists {
  private Lists() {}

  static int[] toArray(List<Integer> list, String name) {
    if (list == null || list.contains(null)) {
      throw new MindSporeException(MindSporeException.NULL_POINTER, name + " is null or contains null");
    }
    return list.stream().mapToInt(Integer::intValue).toArray();
  }

  static ArrayList<Integer> toList(int[] array) {
    ArrayList<Integer> result = new ArrayList<>(array.length);
    for (int number : array) {
      result.add(number);
    }
    return result;
  }
}
