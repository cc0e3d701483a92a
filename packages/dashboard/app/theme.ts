import {
  Badge,
  Button,
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  Modal,
  Paper,
  Table,
  TextInput,
} from '@mantine/core'

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
  components: {
    Badge: Badge.extend({ defaultProps: { tt: 'none', fw: 500 } }),
    Button: Button.extend({ defaultProps: { size: 'sm' } }),
    TextInput: TextInput.extend({ defaultProps: { size: 'sm' } }),
    Paper: Paper.extend({ defaultProps: { withBorder: true, p: 'lg', radius: 'md' } }),
    Table: Table.extend({ defaultProps: { verticalSpacing: 'sm', horizontalSpacing: 'md', highlightOnHover: true } }),
    Modal: Modal.extend({
      defaultProps: { centered: true, transitionProps: { duration: 100 }, closeButtonProps: { 'aria-label': 'Close' } },
    }),
  },
})

/** Quiet text, and text on a light ground of its own colour, that is still read easily: a contrast of 4.5 to 1 on what it stands on (WCAG 2.2, 1.4.3). */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5c636a',
    '--mantine-color-placeholder': '#6c737a',
    '--mantine-color-orange-light-color': '#8a4b00',
    '--mantine-color-yellow-light-color': '#7a5200',
  },
  dark: { '--mantine-color-dimmed': '#a6a7ab', '--mantine-color-placeholder': '#909296' },
})
