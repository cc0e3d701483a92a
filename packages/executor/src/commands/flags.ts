/** The options of every command. */
export interface Flags {
  /** Path of the settings. */
  config: string
  /** Folder of the keys and the registration. */
  state: string
}
