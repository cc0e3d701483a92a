/** What `--format` takes. */
export const exportFormats = ['dotenv', 'json', 'shell', 'yaml', 'docker', 'k8s', 'systemd', 'github-actions'] as const
export type ExportFormat = (typeof exportFormats)[number]
