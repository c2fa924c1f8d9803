import { Component } from 'preact';

// Boundary shows a fallback in place of a part that can't be drawn, so that the rest of the page
// remains.
export class Boundary extends Component {
  state = { hasFailed: false };

  componentDidCatch(error) {
    console.error(error);
    this.setState({ hasFailed: true });
  }

  render({ fallback, children }, { hasFailed }) {
    return hasFailed ? fallback : children;
  }
}
