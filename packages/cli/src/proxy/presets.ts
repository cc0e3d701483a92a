/** The APIs that agents call most, with the usual name of the secret for each. */
export const presets = {
  openai: { host: 'api.openai.com', secret: 'OPENAI_API_KEY' },
  anthropic: { host: 'api.anthropic.com', secret: 'ANTHROPIC_API_KEY' },
  gemini: { host: 'generativelanguage.googleapis.com', secret: 'GEMINI_API_KEY' },
  mistral: { host: 'api.mistral.ai', secret: 'MISTRAL_API_KEY' },
  openrouter: { host: 'openrouter.ai', secret: 'OPENROUTER_API_KEY' },
  github: { host: 'api.github.com', secret: 'GITHUB_TOKEN' },
} as const satisfies Record<string, { host: string; secret: string }>

export type PresetName = keyof typeof presets

export const presetNames = Object.keys(presets) as PresetName[]
