// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/**
 * The contract between generated code and these support classes (PLUG-006). Each generated class
 * names the version that it was generated for, so that two that do not fit fail when they are
 * compiled, or when they are linked.
 *
 * <p>Where javac does not find {@code GeneratedCode.VERSION_2} or the like: the generated classes
 * and the support classes come from two versions of protoc-gen-idem. Run {@code buf generate} again
 * over all of your schemas, {@code idem/v1/options.proto} among them ({@code include_imports:
 * true}), since that file brings the support classes; or, with {@code support=none}, use the
 * idem-core of the plugin's version.
 */
public final class GeneratedCode {
  /** Code that was generated for version 1 works with these classes. */
  // An object and not a number: a constant would be copied into the generated class and never
  // linked.
  public static final GeneratedCode VERSION_1 = new GeneratedCode();

  private GeneratedCode() {}
}
