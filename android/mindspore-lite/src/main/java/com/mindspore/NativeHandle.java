package com.mindspore;

import com.mindspore.config.MindsporeLite;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * An object of the native library, identified by a handle. A handle is not an address and is never reused. The library
 * looks it up in each call, so an invalid handle causes a {@link HandleMisuseException}. A call keeps its objects alive
 * until it ends, even if other threads free them. Native methods are not static, so that the garbage collector does not
 * collect their object before they return.
 *
 * <p>{@code free()} or {@code close()} frees the native object at once. Unreachable objects are freed when the next
 * object is created.
 */
public abstract class NativeHandle implements AutoCloseable {
  private static final long NONE = MindsporeLite.POINTER_DEFAULT_VALUE;
  private static final long FREED = -1;
  private static final ReferenceQueue<NativeHandle> COLLECTED = new ReferenceQueue<>();
  private static final Set<Remains> REMAINS = ConcurrentHashMap.newKeySet();

  static {
    MindsporeLite.init();
  }

  private final AtomicLong handle;
  private final Remains remains;
  private volatile String lastError = "";

  /** The handle of an object that has been garbage-collected. */
  private static final class Remains extends PhantomReference<NativeHandle> {
    private final AtomicLong handle;

    Remains(NativeHandle object) {
      super(object, COLLECTED);
      this.handle = object.handle;
    }
  }

  /**
   * @param value the handle of a native object, or 0
   * @param isOwner whether garbage collection frees the native object; otherwise only {@code free()} does
   */
  protected NativeHandle(long value, boolean isOwner) {
    handle = new AtomicLong(value);
    remains = isOwner ? new Remains(this) : null;
    if (isOwner) {
      REMAINS.add(remains);
    }
    freeCollected();
  }

  private static void freeCollected() {
    for (Reference<?> found = COLLECTED.poll(); found != null; found = COLLECTED.poll()) {
      Remains gone = (Remains) found;
      REMAINS.remove(gone);
      long value = gone.handle.getAndSet(FREED);
      if (value != NONE && value != FREED) {
        releaseCollected(value);
      }
    }
  }

  // Frees a collected object. Another object with the same handle may already have freed it, which is not an error.
  private static void releaseCollected(long value) {
    try {
      release(value);
    } catch (HandleMisuseException alreadyFreed) {
      // already freed
    }
  }

  /** Frees the native object. */
  public void free() {
    if (!freeOnce()) {
      throw new HandleMisuseException(MindSporeException.UNINITIALIZED, name() + " was freed twice");
    }
  }

  /** The same as {@link #free()}, but a second call has no effect. */
  @Override
  public void close() {
    freeOnce();
  }

  private boolean freeOnce() {
    long value = handle.getAndSet(FREED);
    if (value == FREED) {
      return false;
    }
    if (remains != null) {
      REMAINS.remove(remains);
    }
    if (value != NONE) {
      release(value);
    }
    return true;
  }

  /** Returns the reason of the last failed call of this object that did not throw; empty if there is none. */
  public final String getLastError() {
    return lastError;
  }

  /** Returns the handle of the native object; 0 if there is none yet. Throws after {@code free()}. */
  protected final long handleOrNone() {
    long value = handle.get();
    if (value == FREED) {
      throw new HandleMisuseException(MindSporeException.UNINITIALIZED, name() + " was used after free()");
    }
    return value;
  }

  /** Returns the handle of the native object. Throws if there is none. */
  protected final long handle() {
    long value = handleOrNone();
    if (value == NONE) {
      throw new MindSporeException(MindSporeException.UNINITIALIZED, name() + " is not initialized");
    }
    return value;
  }

  /** Replaces the native object and frees the previous one. Also valid after {@code free()}. */
  protected final void replace(long value) {
    long before = handle.getAndSet(value);
    if (before != NONE && before != FREED) {
      release(before);
    }
    if (before == FREED && remains != null) {
      REMAINS.add(remains);
    }
  }

  /** Runs an action. Returns false and stores the reason if it fails. HandleMisuseException is thrown. */
  protected final boolean attempt(Runnable action) {
    return attempt(
        () -> {
          action.run();
          return true;
        },
        false);
  }

  /** Returns the result of the supplier, or {@code otherwise} if it fails. */
  protected final <T> T attempt(Supplier<T> supplier, T otherwise) {
    try {
      return supplier.get();
    } catch (HandleMisuseException e) {
      throw e;
    } catch (MindSporeException e) {
      lastError = MindsporeLite.remember(e);
      return otherwise;
    }
  }

  /** Returns the argument. Throws if it is null. */
  protected static <T> T given(T argument, String name) {
    if (argument == null) {
      throw new MindSporeException(MindSporeException.NULL_POINTER, name + " is null");
    }
    return argument;
  }

  /** Converts a text for the native library. */
  protected static byte[] utf8(String text, String name) {
    if (given(text, name).indexOf('\0') >= 0) {
      throw new MindSporeException(MindSporeException.PARAM_INVALID, name + " contains a NUL character");
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Converts a text of the native library. */
  protected static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private String name() {
    return getClass().getSimpleName();
  }

  private static native void release(long handle);
}
