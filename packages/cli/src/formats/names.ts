/** The values of `--format`. */
export const exportFormats = ['dotenv', 'json', 'shell', 'yaml', 'docker', 'k8s', 'systemd', 'github-actions'] as const
export type ExportFormat = (typeof exportFormats)[number]

export type Values = Map<string, string>

/** A text in a format, with remarks for its reader. Remarks name secrets, never values. */
export interface Formatted {
  text: string
  remarks: string[]
}
