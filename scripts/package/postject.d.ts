declare module 'postject' {
  /** Adds a section to an executable file, and changes its sentinel. */
  export function inject(
    file: string,
    section: string,
    content: Buffer,
    options: { sentinelFuse: string },
  ): Promise<void>
}
