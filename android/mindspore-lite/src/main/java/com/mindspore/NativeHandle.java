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
 * An object of the native library, known by a number that is no address and is never given twice. The library looks it
 * up in each call, so a number that is stale or made up gives a {@link HandleMisuseException}. A call holds what it
 * looked up until it ends, whatever other threads free meanwhile. Native methods are no static ones, so that the
 * garbage collector leaves their object alone until they return.
 *
 * <p>Objects that nobody refers to any more are freed, too, when the next one is made; {@code free()} or {@code
 * close()} does so at once.
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

  /** What is left of an object when the garbage collector has taken it. */
  private static final class Remains extends PhantomReference<NativeHandle> {
    private final AtomicLong handle;

    Remains(NativeHandle object) {
      super(object, COLLECTED);
      this.handle = object.handle;
    }
  }

  /**
   * @param value the number of a native object, or 0
   * @param isOwner whether the native object goes with this one; others are freed by {@code free()} alone
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

  // What another object has freed by the same number is no fault of the collector's.
  private static void releaseCollected(long value) {
    try {
      release(value);
    } catch (HandleMisuseException alreadyFreed) {
      // nothing is left to do
    }
  }

  /** Gives the native object back. */
  public void free() {
    if (!freeOnce()) {
      throw new HandleMisuseException(MindSporeException.UNINITIALIZED, name() + " was freed twice");
    }
  }

  /** As {@link #free()}, but a second call does nothing. */
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

  /** Why the last call on this object failed that says so by its result; empty when none has. */
  public final String getLastError() {
    return lastError;
  }

  /** The number of the native object, 0 when there is none yet. Throws after {@code free()}. */
  protected final long handleOrNone() {
    long value = handle.get();
    if (value == FREED) {
      throw new HandleMisuseException(MindSporeException.UNINITIALIZED, name() + " was used after free()");
    }
    return value;
  }

  /** The number of the native object. Throws when there is none, too. */
  protected final long handle() {
    long value = handleOrNone();
    if (value == NONE) {
      throw new MindSporeException(MindSporeException.UNINITIALIZED, name() + " is not initialized");
    }
    return value;
  }

  /** Puts another native object in the place of the one before, which is given back. After {@code free()}, too. */
  protected final void replace(long value) {
    long before = handle.getAndSet(value);
    if (before != NONE && before != FREED) {
      release(before);
    }
    if (before == FREED && remains != null) {
      REMAINS.add(remains);
    }
  }

  /** True, or false when the action failed, whose reason is kept. Misuse of handles is thrown on. */
  protected final boolean attempt(Runnable action) {
    return attempt(
        () -> {
          action.run();
          return true;
        },
        false);
  }

  /** What the supplier gives, or {@code otherwise} when it failed. */
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

  /** Throws where an argument is null. */
  protected static <T> T given(T argument, String name) {
    if (argument == null) {
      throw new MindSporeException(MindSporeException.NULL_POINTER, name + " is null");
    }
    return argument;
  }

  /** Text as the native library takes it. */
  protected static byte[] utf8(String text, String name) {
    if (given(text, name).indexOf('\0') >= 0) {
      throw new MindSporeException(MindSporeException.PARAM_INVALID, name + " has a NUL character in it");
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Text as the native library gives it. */
  protected static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private String name() {
    return getClass().getSimpleName();
  }

  private static native void release(long handle);
}
