/** What `--format` takes. */
export const exportFormats = ['dotenv', 'json', 'shell', 'yaml', 'docker', 'k8s', 'systemd', 'github-actions'] as const
export type ExportFormat = (typeof exportFormats)[number]

export type Values = Map<string, string>

/** Text in a format, and what its reader should know; remarks name secrets, never values. */
export interface Formatted {
  text: string
  remarks: string[]
}
