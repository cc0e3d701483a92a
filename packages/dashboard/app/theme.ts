import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

const sea: MantineColorsTuple = [
  '#eefcf9',
  '#d9f5ef',
  '#aeebdf',
  '#80e0ce',
  '#5cd7c0',
  '#2fb7a0',
  '#0f8a7a',
  '#0f766e',
  '#0b5f58',
  '#064842',
]

export const theme = createTheme({
  primaryColor: 'sea',
  primaryShade: 7,
  colors: { sea },
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: 'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1.0625rem' }, h3: { fontSize: '0.9375rem' } },
  },
  // Components are listed by name, because an import would put them into the first load.
  components: {
    Badge: { defaultProps: { tt: 'none', fw: 500 } },
    Breadcrumbs: { styles: { root: { flexWrap: 'wrap' }, breadcrumb: { whiteSpace: 'normal', lineHeight: 1.4 } } },
    Button: { defaultProps: { size: 'sm' } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    InputWrapper: { styles: { label: { maxWidth: '100%', overflowWrap: 'anywhere' } } },
    // Mantine's menu focuses a placeholder before the first item by default, which is not allowed in a menu.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: {
      defaultProps: { centered: true, transitionProps: { duration: 100 }, closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: { fontSize: 'var(--mantine-font-size-lg)', fontWeight: 600, lineHeight: 1.35 } },
    },
    NavLink: { styles: { root: { borderRadius: 'var(--mantine-radius-md)' } } },
    Paper: { defaultProps: { withBorder: true, p: 'lg', radius: 'md' } },
    Table: { defaultProps: { verticalSpacing: 'sm', horizontalSpacing: 'md', highlightOnHover: true } },
    TextInput: { defaultProps: { size: 'sm' } },
  },
})

const tinted = ['gray', 'red', 'orange', 'yellow', 'green', 'teal', 'blue', 'sea']

/** Text colours for tinted backgrounds, such as badges and alerts, dark enough to be read. */
const lightTints = Object.fromEntries(
  tinted.map((color) => [
    `--mantine-color-${color}-light-color`,
    `color-mix(in srgb, var(--mantine-color-${color}-9) 70%, black)`,
  ]),
)

/** In the dark scheme, a tinted background has only a little of the colour. */
const darkTints = Object.fromEntries(
  tinted.flatMap((color) => [
    [`--mantine-color-${color}-light`, `color-mix(in srgb, var(--mantine-color-${color}-5) 14%, transparent)`],
    [`--mantine-color-${color}-light-hover`, `color-mix(in srgb, var(--mantine-color-${color}-5) 20%, transparent)`],
    [`--mantine-color-${color}-light-color`, `var(--mantine-color-${color}-2)`],
  ]),
)

const redFilled = { '--mantine-color-red-filled': '#c92a2a', '--mantine-color-red-filled-hover': '#b02525' }

/** Dimmed and red text has a contrast of at least 4.5 to 1 with its background (WCAG 2.2, 1.4.3). */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...lightTints,
    ...redFilled,
    '--mantine-color-dimmed': '#5c636a',
    '--mantine-color-placeholder': '#6c737a',
    '--mantine-color-error': '#c92a2a',
  },
  dark: {
    ...darkTints,
    ...redFilled,
    '--mantine-color-dimmed': '#a6a7ab',
    '--mantine-color-placeholder': '#909296',
    '--mantine-color-error': '#ff8787',
  },
})
