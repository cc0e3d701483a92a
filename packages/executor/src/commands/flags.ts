/** What every command is told. */
export interface Flags {
  /** Path of the settings. */
  config: string
  /** Folder in which keys and registration are kept. */
  state: string
}
