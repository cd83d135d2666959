package com.mindspore.config;

import com.mindspore.MindSporeException;
import java.util.ArrayList;
import java.util.List;

/** Lists of numbers as the native library takes and gives them. */
final class Lists {
  private Lists() {}

  static int[] toArray(List<Integer> list, String name) {
    if (list == null || list.contains(null)) {
      throw new MindSporeException(MindSporeException.NULL_POINTER, name + " is null, or has a null in it");
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
